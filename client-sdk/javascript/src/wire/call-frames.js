import { frame, symbol } from './frames.js';
import { EXECUTIONS, FAILURE_CODES, OVERFLOWS, PRIORITIES } from './names.js';
import * as TYPE from './type.js';
import { Writer } from './writer.js';

/** @import {Execution, FailureCode, Priority} from '../types.js' */
/** @import {Reader} from './reader.js' */

/**
 * Bytes of an event from a message.
 *
 * @typedef {object} EventPlace
 * @property {Uint8Array} bytes of the event alone
 * @property {number} from start of its payload
 *
 * @typedef {object} Register
 * @property {number} id
 * @property {string} service
 * @property {number} concurrency
 * @property {boolean} identify
 * @property {string} version
 * @property {Record<string, string>} metadata
 *
 * @typedef {object} RequestHead
 * @property {number} call
 * @property {string} service
 * @property {string} method
 * @property {Priority} priority
 * @property {number} timeoutMillis
 * @property {number} waitMillis
 * @property {boolean} idempotent
 * @property {number} attempt
 * @property {bigint} member
 * @property {bigint} schema
 *
 * @typedef {object} Failure
 * @property {FailureCode} code
 * @property {string} message
 * @property {Execution} executed
 * @property {number} retryAfter in ms
 * @property {bigint} member
 * @property {string} type
 * @property {Uint8Array} details
 *
 * @typedef {{more: boolean}} More whether further answers come, to a request to all members
 */

/**
 * @param {Register} register
 * @returns {Uint8Array} frame 020
 */
export const encodeRegister = ({ id, service, concurrency, identify, version, metadata }) => frame(TYPE.REGISTER, body => {
  body.long(id);
  body.string(service);
  body.long(concurrency);
  body.boolean(identify);
  body.string(version);
  body.map(metadata);
  // Broadcasts to members are delivered to no handler here, and must stall no publisher.
  body.long(OVERFLOWS.indexOf('DROP_OLDEST'));
});

/**
 * Returns a frame with an event, which is not copied.
 * @param {number} typeCode
 * @param {Uint8Array} event
 * @param {(head: Writer) => void} write writes the fields before the event
 * @param {number} behind number of fields behind the event, each false or 0
 * @returns {Uint8Array[]} the parts of the frame
 */
function around(typeCode, event, write, behind) {
  const head = new Writer(128);
  write(head);
  const start = new Writer(head.at + 12);
  start.long(typeCode);
  start.long(head.at + event.length + behind);
  start.raw(head.bytes.subarray(0, head.at));
  return [start.done(), event, new Uint8Array(behind)];
}

/**
 * @param {RequestHead} head
 * @param {Uint8Array} event
 * @returns {Uint8Array[]} the parts of frame 022
 */
export const encodeRequest = (head, event) => around(TYPE.REQUEST, event, w => {
  w.long(head.call);
  w.string(head.service);
  w.string(head.method);
  // REPLY, of ONE member.
  w.long(0);
  w.long(0);
  w.long(PRIORITIES.indexOf(head.priority));
  w.long(head.timeoutMillis);
  w.long(head.waitMillis);
  w.boolean(head.idempotent);
  w.long(head.attempt);
  w.bigint64(head.member);
  w.bigint64(head.schema);
  // limit: a REPLY has no Data.
}, 1);

/**
 * @param {bigint} call
 * @param {number} handledMicros
 * @param {bigint} schema
 * @param {Uint8Array} event
 * @returns {Uint8Array[]} the parts of frame 024
 */
export const encodeReply = (call, handledMicros, schema, event) => around(TYPE.REPLY, event, w => {
  w.bigint64(call);
  // The bus fills in the member's number and the time in the queue.
  w.long(0);
  w.long(0);
  w.long(handledMicros);
  w.bigint64(schema);
  // more: filled in by the bus; limit: as in a Request.
}, 2);

/**
 * @param {bigint} call
 * @param {Omit<Failure, 'member'>} failure
 * @returns {Uint8Array} frame 025
 */
export const encodeFailure = (call, { code, message, executed, retryAfter, type, details }) => frame(TYPE.FAILURE, body => {
  body.bigint64(call);
  body.long(FAILURE_CODES.indexOf(code));
  body.string(message);
  body.long(EXECUTIONS.indexOf(executed));
  body.long(retryAfter);
  body.long(0);
  body.string(type);
  body.data(details);
  body.boolean(false);
});

/**
 * @param {number} call
 * @returns {Uint8Array} frame 026
 */
export const encodeCancel = call => frame(TYPE.CANCEL, body => {
  body.long(call);
  body.string('');
});

/**
 * @param {number} id of the service
 * @param {number} concurrency
 * @returns {Uint8Array} frame 031
 */
export const encodeCapacity = (id, concurrency) => frame(TYPE.CAPACITY, body => {
  body.long(id);
  body.long(concurrency);
});

/**
 * @param {Reader} body
 * @param {string} field
 * @returns {number}
 */
function notNegative(body, field) {
  const at = body.at;
  const value = body.int(field);
  if (value < 0) {
    throw body.malformed(field, at, String(value), 'at least 0');
  }
  return value;
}

/**
 * @param {Reader} body at an event
 * @returns {EventPlace} a copy, so that an event that waits does not keep its whole message
 */
function event(body) {
  const start = body.at;
  body.skipLong('publishedAt');
  if (body.present('key')) {
    body.skipString('key');
  }
  body.blocks('headers', 2, count => {
    for (let i = 0; i < count; i++) {
      body.skipString('header name');
      body.skipString('header value');
    }
  });
  const length = body.length('payload');
  const from = body.at;
  body.at += length;
  return { bytes: body.bytes.slice(start, body.at), from: from - start };
}

/** @param {Reader} body */
const more = body => !body.done && body.boolean('more');

/**
 * @param {Reader} body
 * @returns {bigint} the limit for Data, which a client without streams and tunnels ignores
 */
const limit = body => body.done ? 0n : body.bigint64('limit');

/**
 * @typedef {object} Invoke
 * @property {bigint} call
 * @property {number} service
 * @property {string} method
 * @property {number} kind 0 for REPLY
 * @property {number} timeoutMillis
 * @property {bigint} caller
 * @property {bigint} request chosen by the caller, who may use all 64 bits
 * @property {number} attempt
 * @property {string} identity
 * @property {number} receivedAt
 * @property {bigint} schema
 * @property {EventPlace} event
 * @property {bigint} limit
 */

/**
 * @param {Reader} body
 * @returns {Invoke} of frame 023
 */
export function decodeInvoke(body) {
  const call = body.bigint64('call');
  const service = body.long('service');
  const method = body.string('method');
  const kind = notNegative(body, 'kind');
  const timeoutMillis = notNegative(body, 'timeoutMillis');
  const caller = body.bigint64('caller');
  const request = body.bigint64('request');
  const attempt = notNegative(body, 'attempt');
  const identity = body.string('identity');
  const receivedAt = body.long('receivedAt');
  const schema = body.bigint64('schema');
  return { call, service, method, kind, timeoutMillis, caller, request, attempt, identity, receivedAt, schema, event: event(body), limit: limit(body) };
}

/**
 * @typedef {object} Reply
 * @property {number} call
 * @property {bigint} member
 * @property {number} queuedMicros
 * @property {number} handledMicros
 * @property {bigint} schema
 * @property {EventPlace} event
 * @property {bigint} limit
 */

/**
 * @param {Reader} body
 * @returns {Reply & More} of frame 024
 */
export function decodeReply(body) {
  const call = body.long('call');
  const member = body.bigint64('member');
  const queuedMicros = notNegative(body, 'queuedMicros');
  const handledMicros = notNegative(body, 'handledMicros');
  const schema = body.bigint64('schema');
  return { call, member, queuedMicros, handledMicros, schema, event: event(body), more: more(body), limit: limit(body) };
}

/**
 * @param {Reader} body
 * @returns {{call: number} & Failure & More} of frame 025
 */
export function decodeFailure(body) {
  const call = body.long('call');
  const code = symbol(body, 'code', FAILURE_CODES);
  const message = body.string('message');
  const executed = symbol(body, 'executed', EXECUTIONS);
  const retryAfter = body.done ? 0 : Math.max(0, Number(body.bigint64('retryAfterMillis')));
  const member = body.done ? 0n : body.bigint64('member');
  const type = body.done ? '' : body.string('type');
  const length = body.done ? 0 : body.length('details');
  const from = body.at;
  body.at += length;
  return { call, code, message, executed, retryAfter, member, type, details: body.bytes.slice(from, body.at), more: more(body) };
}

/**
 * @param {Reader} body
 * @returns {{call: bigint, reason: string}} of frame 026
 */
export const decodeCancel = body => ({ call: body.bigint64('call'), reason: body.done ? '' : body.string('reason') });
