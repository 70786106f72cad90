import { BusEvent } from './event.js';
import { Malformed } from './errors.js';
import { decodeChangeBus, decodeConfirm, decodeGap, decodeProblem, decodeWelcome } from './wire/frames.js';
import { Deliver } from './wire/deliver.js';
import { decodeInvoke } from './wire/call-frames.js';
import { EXECUTIONS, FAILURE_CODES, OVERFLOWS } from './wire/names.js';
import * as TYPE from './wire/type.js';
import { Reader } from './wire/reader.js';

const MAX_CHARS = 60;
/** @type {Map<number, string>} */
const NAMES = new Map(Object.entries(TYPE).map(([name, code]) => [code, name]));

/**
 * @param {string} text
 * @returns {string} shortened, on one line
 */
const short = text => JSON.stringify(text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);

/**
 * @param {Reader} r
 * @param {string} field
 * @returns {string | null}
 */
const optional = (r, field) => r.present(field) ? r.string(field) : null;

/**
 * @param {string | null} value
 * @returns {string} a mask, or none
 */
const secret = value => value === null ? 'none' : '***';

/** @type {Record<number, (body: Reader) => string>} */
const BODIES = {
  [TYPE.HELLO]: r => {
    const client = r.string('client');
    const agent = r.string('agent');
    return `client ${short(client)} agent ${short(agent)} token ${secret(optional(r, 'token'))} resume ${secret(optional(r, 'resume'))}`;
  },
  [TYPE.WELCOME]: r => {
    const { bus, session, producer, limits, others } = decodeWelcome(r);
    return `bus ${short(bus)} session ${short(session)} producer ${producer} resume *** messageBytes ${limits.messageBytes} others ${others.length}`;
  },
  [TYPE.PUBLISH]: r => `topic ${short(r.string('topic'))} sequence ${r.long('sequence')} schema ${r.bigint64('schema')} confirm ${r.boolean('confirm')} ${r.end - r.at} bytes of events`,
  [TYPE.SUBSCRIBE]: r => `id ${r.long('id')} filter ${short(r.string('filter'))} group ${optional(r, 'group') ?? 'none'} ${OVERFLOWS[r.int('overflow')] ?? '?'}`,
  [TYPE.CHANGE_BUS]: r => {
    const { urls, reason, deadlineMillis, hops } = decodeChangeBus(r);
    return `urls ${urls.join(' ')} ${reason} within ${deadlineMillis} ms token *** hops ${hops}`;
  },
  [TYPE.CHANGE_BUS_FAILED]: r => {
    r.string('token');
    return `token *** ${short(r.string('message'))}`;
  },
  [TYPE.DELIVER]: r => {
    const view = new Deliver();
    view.read(r.bytes, r.at, r.end);
    const { sequence, count, offsets, groups, schema, receivedAt } = view;
    const topic = view.text('topic', view.topicFrom, view.topicTo);
    const producer = view.producer();
    const first = count === 0 ? '' : ` first ${short(new BusEvent({ bytes: r.bytes, topic, producer, schema, receivedAt, codec: null }, sequence,
      /** @type {number} */ (offsets[0]), /** @type {number} */ (offsets[1]), /** @type {number} */ (offsets[2])).text())}`;
    return `topic ${short(topic)} producer ${producer} sequence ${sequence} events ${count} groups [${groups.join(' ')}]${first}`;
  },
  [TYPE.PROBLEM]: r => {
    const { code, message, retryable, about, typeCode, topic } = decodeProblem(r);
    return `${code} ${short(message)} retryable ${retryable} about ${about} typeCode ${typeCode} topic ${short(topic)}`;
  },
  [TYPE.CONFIRM]: r => {
    const { typeCode, about, topic, receivers, position } = decodeConfirm(r);
    return `typeCode ${typeCode} about ${about} topic ${short(topic)}${receivers < 0 ? '' : ` receivers ${receivers}`}${position > 0 ? ` position ${position}` : ''}`;
  },
  [TYPE.GAP]: r => {
    const { topic, producer, from, to, reason } = decodeGap(r);
    return `topic ${short(topic)} producer ${producer} ${from}..${to} ${reason}`;
  },
  [TYPE.REGISTER]: r => `id ${r.long('id')} service ${short(r.string('service'))} concurrency ${r.int('concurrency')}`,
  [TYPE.CAPACITY]: r => `id ${r.long('id')} concurrency ${r.int('concurrency')}`,
  [TYPE.REQUEST]: r => `call ${r.long('call')} service ${short(r.string('service'))} method ${short(r.string('method'))} ${r.end - r.at} bytes more`,
  [TYPE.INVOKE]: r => {
    const { call, service, method, timeoutMillis, caller, request, attempt, event } = decodeInvoke(r);
    return `call ${call} service ${service} method ${short(method)} caller ${caller} request ${request} attempt ${attempt} within ${timeoutMillis} ms, an event of ${event.bytes.length} bytes`;
  },
  [TYPE.REPLY]: r => `call ${r.bigint64('call')} member ${r.bigint64('member')} queued ${r.int('queuedMicros')} µs handled ${r.int('handledMicros')} µs, ${r.end - r.at} bytes more`,
  [TYPE.FAILURE]: r => `call ${r.bigint64('call')} ${FAILURE_CODES[r.int('code')] ?? '?'} ${short(r.string('message'))} executed ${EXECUTIONS[r.int('executed')] ?? '?'}`,
  [TYPE.CANCEL]: r => `call ${r.bigint64('call')} ${short(r.string('reason'))}`,
  [TYPE.DATA]: r => `call ${r.bigint64('call')} offset ${r.bigint64('offset')} more ${r.boolean('more')} last ${r.boolean('last')} ${r.length('payload')} bytes`,
  [TYPE.CREDIT]: r => `call ${r.long('call')} limit ${r.long('limit')} received ${r.long('received')}`,
};

/**
 * Describes the frames of a message, one line each: fields, payloads shortened, tokens and resumes masked.
 *
 * @param {Uint8Array} message
 * @returns {string[]} a line for each frame; the last one tells where the message is malformed
 */
export function describe(message) {
  /** @type {string[]} */
  const lines = [];
  const reader = new Reader().wrap(message);
  try {
    while (!reader.done) {
      const code = reader.int('typeCode');
      const length = reader.length('body');
      const body = new Reader().wrap(message, reader.at, reader.at + length);
      reader.at += length;
      const describeBody = BODIES[code] ?? (NAMES.has(code) ? r => `id ${r.long('id')}` : () => 'a type that this version does not know');
      lines.push(`${String(code).padStart(3, '0')} ${NAMES.get(code) ?? 'unknown'} ${length} bytes: ${describeBody(body)}`);
    }
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) {
      throw thrown;
    }
    lines.push(`malformed: ${thrown.message}`);
  }
  return lines;
}

/**
 * Returns a WebSocket class for the option `WebSocket` that writes a line for each frame, with `->` or `<-` before it.
 *
 * @param {typeof WebSocket} Base the platform's
 * @param {(line: string) => void} write receives a line
 * @returns {typeof WebSocket}
 */
export function traced(Base, write) {
  return class extends Base {
    /**
     * @param {string | URL} url
     * @param {string | string[]} [protocols]
     */
    constructor(url, protocols) {
      super(url, protocols);
      this.addEventListener('message', ({ data }) => {
        if (data instanceof ArrayBuffer) {
          describe(new Uint8Array(data)).forEach(line => write(`<- ${line}`));
        }
      });
      this.addEventListener('close', ({ code, reason }) => write(`<- close ${code} ${short(reason)}`));
    }

    /**
     * @override
     * @param {string | ArrayBufferLike | Blob | ArrayBufferView<ArrayBuffer>} data
     */
    send(data) {
      if (ArrayBuffer.isView(data)) {
        describe(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).forEach(line => write(`-> ${line}`));
      }
      super.send(/** @type {ArrayBufferView<ArrayBuffer>} */ (data));
    }
  };
}
