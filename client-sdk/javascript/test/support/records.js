// Frames that the SDK has read, as records of the conformance kit: 64-bit numbers as text, bytes in base64.
import { Deliver } from '../../src/wire/deliver.js';
import { BusEvent } from '../../src/event.js';
import { decodeCancel, decodeFailure, decodeInvoke, decodeReply } from '../../src/wire/call-frames.js';
import { decodeFeed, decodeTold, decodeTruncated } from '../../src/wire/durable-frames.js';
import { decodeChangeBus, decodeConfirm, decodeGap, decodeProblem, decodeWelcome } from '../../src/wire/frames.js';
import * as TYPE from '../../src/wire/type.js';
import { Reader } from '../../src/wire/reader.js';
import { base64 } from './text.js';

const text = (record, ...names) => ({ ...record, ...Object.fromEntries(names.map(name => [name, String(record[name])])) });

function deliver(body) {
  const view = new Deliver();
  view.read(body.bytes, body.at, body.end);
  const topic = view.text('topic', view.topicFrom, view.topicTo);
  const { sequence, schema, receivedAt, groups, count, offsets, offset, originProducer, originSequence } = view;
  const head = { bytes: body.bytes, topic, producer: 0n, schema, receivedAt, codec: null };
  const events = Array.from({ length: count }, (_, i) => {
    const event = new BusEvent(head, sequence + i, ...offsets.slice(3 * i, 3 * i + 3));
    return { publishedAt: String(event.publishedAt), key: event.key, headers: { ...event.headers }, payload: base64(event.payload) };
  });
  return {
    topic, producer: String(view.producer()), sequence: String(sequence), schema: String(schema), receivedAt: String(receivedAt), offset: String(offset),
    events, groups: groups.map(String), originProducer: String(originProducer), originSequence: String(originSequence),
  };
}

const KINDS = ['REPLY', 'STREAM', 'TUNNEL'];

function event({ bytes, from }) {
  const one = new BusEvent({ bytes, topic: '', producer: 0n, schema: 0n, receivedAt: 0, codec: null }, 1, 0, from, bytes.length);
  return { publishedAt: String(one.publishedAt), key: one.key, headers: { ...one.headers }, payload: base64(one.payload) };
}

const id = body => ({ id: String(body.long('id')) });

/** Readers of the records of a bus, by type code. */
export const READERS = {
  [TYPE.WELCOME]: body => {
    const welcome = decodeWelcome(body);
    return { ...text(welcome, 'producer', 'expiresAt'), limits: text(welcome.limits, 'queueBytes') };
  },
  [TYPE.CHANGE_BUS]: body => text(decodeChangeBus(body), 'deadlineMillis'),
  [TYPE.DELIVER]: deliver,
  [TYPE.PROBLEM]: body => text(decodeProblem(body), 'about'),
  [TYPE.CONFIRM]: body => text(decodeConfirm(body), 'about', 'receivers', 'position', 'creation'),
  [TYPE.GAP]: body => text(decodeGap(body), 'producer', 'from', 'to'),
  [TYPE.INVOKE]: body => {
    const invoke = decodeInvoke(body);
    return { ...text(invoke, 'call', 'service', 'caller', 'request', 'receivedAt', 'schema', 'limit'), kind: KINDS[invoke.kind], event: event(invoke.event) };
  },
  [TYPE.REPLY]: body => {
    const reply = decodeReply(body);
    return { ...text(reply, 'call', 'member', 'schema', 'limit'), event: event(reply.event) };
  },
  [TYPE.FAILURE]: body => {
    const { retryAfter, details, ...failure } = decodeFailure(body);
    return { ...text(failure, 'call', 'member'), retryAfterMillis: String(retryAfter), details: base64(details) };
  },
  // The SDK skips Data, because it has no streams and tunnels; the kit expects it of every SDK with services.
  [TYPE.DATA]: body => {
    const call = String(body.bigint64('call'));
    const { at } = body;
    const offset = body.bigint64('offset');
    if (offset < 0n) {
      throw body.malformed('offset', at, String(offset), 'at least 0');
    }
    const more = body.boolean('more');
    const last = body.boolean('last');
    const length = body.length('payload');
    body.at += length;
    return { call, offset: String(offset), more, last, payload: base64(body.bytes.slice(body.at - length, body.at)) };
  },
  [TYPE.FEED]: body => {
    const { start, end, ...feed } = decodeFeed(body);
    return { ...text(feed, 'id', 'from', 'to', 'head'), frames: base64(body.bytes.slice(start, end)) };
  },
  [TYPE.TOLD]: body => text(decodeTold(body), 'id', 'first', 'last', 'topicLast', 'atTime', 'settled'),
  [TYPE.TRUNCATED]: body => text(decodeTruncated(body), 'id', 'from', 'to'),
  [TYPE.CANCEL]: body => text(decodeCancel(body), 'call'),
  [TYPE.BARRIER]: id,
  [TYPE.DRAINED]: id,
  [TYPE.ECHO]: id,
};

/** Decodes consecutive frames, without unknown ones. */
export function decode(message) {
  const reader = new Reader().wrap(message);
  const frames = [];
  while (!reader.done) {
    const typeCode = reader.int('Frame.typeCode');
    const length = reader.length('Frame.body');
    const read = READERS[typeCode];
    if (read) {
      frames.push({ typeCode, record: read(new Reader().wrap(message, reader.at, reader.at + length)) });
    }
    reader.at += length;
  }
  return frames;
}
