import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeAuthenticate, encodeChangeBusFailed, encodeCredit, encodeHello, encodeId, encodeSubscribe, publishTail } from '../../src/wire/frames.js';
import { encodeCapacity, encodeCancel, encodeFailure, encodeRegister, encodeReply, encodeRequest } from '../../src/wire/call-frames.js';
import { decodeFeed, eachDeliver, encodeAsk, encodeConsume, encodeConsumerCredit, encodeSettle, encodeSharedSettle } from '../../src/wire/durable-frames.js';
import { Deliver } from '../../src/wire/deliver.js';
import { Reader } from '../../src/wire/reader.js';
import { PublishFrame } from '../../src/frame.js';
import { encodeEvent, estimate } from '../../src/encoder.js';
import { Malformed } from '../../src/errors.js';
import * as TYPE from '../../src/wire/type.js';
import { Writer } from '../../src/wire/writer.js';
import { describe } from '../../src/trace.js';
import { rawFrame } from '../support/bus-frames.js';
import { decode, READERS } from '../support/records.js';
import { bytesOf, examples, hasVectors, vectors } from '../support/vectors.js';

const hex = bytes => Buffer.from(bytes).toString('hex');

/** Returns a Publish of one schema, as the outbox makes it. */
function publish({ topic, sequence, schema, confirm, events }) {
  const name = new TextEncoder().encode(topic);
  const frame = new PublishFrame({ head: Uint8Array.of(name.length << 1, ...name) }, sequence, schema, confirm ? [] : null, 16);
  for (const { payload, ...options } of events) {
    encodeEvent(frame.writer, estimate(payload, options, null, 1e6).event, () => assert.fail('the time is given'));
    frame.count++;
  }
  return frame.bytes();
}

/** Returns the bytes of an event. */
function eventBytes(payload, options) {
  const writer = new Writer();
  encodeEvent(writer, estimate(payload, options, null, 1e6).event, () => assert.fail('the time is given'));
  return writer.done();
}

const ENCODED = {
  Hello: encodeHello({ client: 'flight-board', agent: 'example/1.0', token: null, resume: null, attributes: {}, change: null, user: null, previous: null }),
  Publish: publish({
    topic: 'flights.EDDF.landed', sequence: 1, schema: 0n, confirm: true, events: [
      { publishedAt: 1763712000000000, key: 'LH400', headers: { type: 'json' }, payload: '{"runway":"07C"}' },
      { publishedAt: 1763712000000250, payload: '' },
    ],
  }),
  Subscribe: encodeSubscribe(1, 'flights.*.landed', 'boards', 'DROP_OLDEST'),
  Unsubscribe: encodeId(6, 1),
  Barrier: encodeId(11, 77),
  ChangeBusFailed: encodeChangeBusFailed('move-7f3a', 'no connection'),
  Credit: encodeCredit(1048576, 70000),
  Authenticate: encodeAuthenticate('s3cret', null),
  Echo: encodeId(33, 78),
  Register: encodeRegister({ id: 3, service: 'orders', concurrency: 16, identify: true, version: '2.1', metadata: { zone: 'eu' } }),
  Unregister: encodeId(21, 3),
  Request: Buffer.concat(encodeRequest({
    call: 1, service: 'orders', method: 'total', priority: 'NORMAL', timeoutMillis: 2000, waitMillis: 0, idempotent: true, attempt: 0, member: 0n, schema: 0n,
  }, eventBytes('{"order":7}', { publishedAt: 1763712000000000 }))),
  Capacity: encodeCapacity(3, 0),
  Consume: encodeConsume({ id: 4, filter: 'orders.>', journal: 'shop', name: 'billing', mode: 'SHARED', start: 'FIRST', from: 0, limit: 1048576, creation: 79, otherStart: 'FIRST', otherFrom: 0 },
    [50, 60000, 5]),
  Settle: encodeSharedSettle(4, 45, true, 79, { from: 43, outcome: 'RETRY', attempt: 1, delayMillis: 5000, reason: 'busy' }),
  Ask: encodeAsk({ id: 79, journal: 'shop', topic: 'orders.new', name: 'billing', time: 1763712000000000 }),
};

/** Fields that these frames end with on the page, and that the client leaves out: their bytes are the defaults. */
const LEFT_OUT = { Publish: publishTail(0, 0, 0, null, 0), Credit: Uint8Array.of(0) };

/** Returns a frame with more fields at its end. */
function longer(bytes, tail) {
  const reader = new Reader().wrap(bytes);
  const typeCode = reader.int('typeCode');
  reader.length('body');
  return rawFrame(typeCode, Buffer.concat([bytes.subarray(reader.at), tail]));
}

test('frames of a client have the bytes of the protocol page', () => {
  const page = Object.fromEntries(examples().map(one => [one.name, hex(one.bytes)]));
  for (const [name, bytes] of Object.entries(ENCODED)) {
    assert.equal(hex(LEFT_OUT[name] ? longer(bytes, LEFT_OUT[name]) : bytes), page[name], name);
  }
  assert.equal(hex(encodeConsumerCredit(0, 1048576, 70000)), page.Credit);
});

test('the events of a Feed are found, and frames of later versions in it are skipped', () => {
  const { bytes } = examples().find(one => one.name === 'Feed');
  const whole = new Reader().wrap(bytes);
  whole.int('typeCode');
  whole.length('body');
  const { start, end } = decodeFeed(whole);
  const deliver = bytes.subarray(start, end);
  const message = Buffer.concat([deliver, rawFrame(63, Uint8Array.of(7)), deliver]);
  const found = [];
  eachDeliver(message, { start: 0, end: message.length }, (from, to) => {
    const view = new Deliver();
    view.read(message, from, to);
    found.push({ position: view.offset, producer: view.originProducer, sequence: view.originSequence });
  });
  const one = { position: 43, producer: 7378243254498108065n, sequence: 5 };
  assert.deepEqual(found, [one, one]);
});

test('answers of a member are read as they were written', () => {
  const event = eventBytes('{"total":42}', { publishedAt: 1763712000001000, key: 'k', headers: { a: 'ü' } });
  const failure = { code: 'FAILED', message: 'no order 7', executed: 'YES', retryAfter: 5, type: 'NoSuchOrder', details: Uint8Array.of(55) };
  const [reply, failed, cancel] = decode(Buffer.concat([...encodeReply(-7n, 850, -1n, event), encodeFailure(-8n, failure), encodeCancel(9)]));
  assert.deepEqual(reply.record, {
    call: '-7', member: '0', queuedMicros: 0, handledMicros: 850, schema: '-1',
    event: { publishedAt: '1763712000001000', key: 'k', headers: { a: 'ü' }, payload: Buffer.from('{"total":42}').toString('base64') }, more: false, limit: '0',
  });
  assert.deepEqual(failed.record, { call: '-8', code: 'FAILED', message: 'no order 7', executed: 'YES', member: '0', type: 'NoSuchOrder', retryAfterMillis: '5', details: 'Nw==', more: false });
  assert.deepEqual(cancel.record, { call: '9', reason: '' });
});

test('a consumer that is not shared leaves out the fields that shared ones have', () => {
  const settle = encodeSettle(4, 45, true, 79);
  const page = examples().find(one => one.name === 'Settle').bytes;
  const shared = new Reader().wrap(page);
  shared.int('typeCode');
  shared.length('body');
  const own = new Reader().wrap(settle);
  own.int('typeCode');
  const length = own.length('body');
  assert.equal(hex(settle.subarray(own.at)), hex(page.subarray(shared.at, shared.at + length)));
});

test('a Hello with all fields has the bytes of the vector', { skip: !hasVectors && 'the conformance kit is not here' }, () => {
  const { hex: expected, frames: [{ record }] } = vectors('frames').find(one => one.id === 'hello-all');
  assert.ok(record.user && record.previous);
  assert.equal(hex(encodeHello(record)), expected);
});

test('frames of a bus are read as the protocol page shows them', () => {
  const plain = value => JSON.parse(JSON.stringify(value));
  let read = 0;
  for (const { code, name, record, bytes } of examples()) {
    if (!READERS[code]) {
      continue;
    }
    read++;
    const [frame] = decode(bytes);
    // Avro's JSON has numbers that are not text, unions with their branch, and bytes as text in Latin-1.
    const expected = JSON.parse(record, function (key, value, context) {
      if (typeof value === 'number' && !['typeCode', 'hops', 'payloadBytes', 'messageBytes', 'headers', 'headerBytes', 'subscriptions', 'calls', 'services', 'tunnels', 'window', 'timeoutMillis', 'attempt', 'queuedMicros',
        'handledMicros'].includes(key)) {
        return context?.source ?? String(value);
      }
      return key === 'key' && value ? value.string : key === 'payload' || key === 'details' || key === 'frames' ? Buffer.from(value, 'latin1').toString('base64') : value;
    });
    const long = /"(producer|caller)": (\d+)/.exec(record);
    if (long) {
      expected[long[1]] = long[2];
    }
    assert.deepEqual(plain(frame.record), name === 'Confirm' ? { receivers: '-1', ...expected } : expected, name);
  }
  assert.equal(read, Object.keys(READERS).length);
});

test('calls and answers of a bus without streams and tunnels are read', () => {
  for (const { code, name, bytes } of examples()) {
    // Without limit, and without more.
    for (let less = 1; less <= { Invoke: 1, Reply: 2 }[name]; less++) {
      const [whole, cut] = decode(Buffer.concat([bytes, rawFrame(code, bytes.subarray(2, -less))]));
      assert.deepEqual(cut, whole, name);
    }
  }
});

test('each frame of the protocol page is described', () => {
  const known = new Set(Object.values(TYPE));
  for (const { code, name, bytes } of examples().filter(one => known.has(one.code))) {
    const [line, ...more] = describe(bytes);
    assert.deepEqual(more, []);
    assert.match(line, new RegExp(`^${String(code).padStart(3, '0')} (?!unknown)`), name);
    assert.doesNotMatch(line, /\?| s3cret|q3fJ0y/, name);
  }
});

test('frames of the Java codec are read with the same result', { skip: hasVectors ? false : 'the conformance kit is not here' }, () => {
  for (const { id, hex: bytes, from, services, frames } of vectors('frames')) {
    // Skips other frames in both directions: the client reads only its own ones that come back.
    if (from === 'bus' || (from === 'both' && services)) {
      const got = JSON.parse(JSON.stringify(decode(bytesOf(bytes))));
      const expected = frames.filter(one => READERS[one.typeCode])
        // Vectors of a bus without receivers have other bytes in that place.
        .map(({ typeCode, record }, i) => ({ typeCode, record: typeCode === TYPE.CONFIRM ? { receivers: got[i].record.receivers, ...record } : record }));
      assert.deepEqual(got, expected, id);
    }
  }
});

test('frames that the Java codec refuses are refused', { skip: hasVectors ? false : 'the conformance kit is not here' }, () => {
  for (const { id, hex: bytes, from } of vectors('refused')) {
    if (from !== 'client') {
      assert.throws(() => decode(bytesOf(bytes)), Malformed, id);
    }
  }
});
