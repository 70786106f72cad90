import { BUS_CODES, CHANGE_REASONS, GAP_REASONS, OVERFLOWS } from './names.js';
import * as TYPE from './type.js';
import { Writer } from './writer.js';

/** @import {Reader} from './reader.js' */
/** @import {BusCode, ChangeReason, Limits, Overflow} from '../types.js' */

/**
 * @param {number} typeCode of the frame
 * @param {(body: Writer) => void} write writes the record
 * @returns {Uint8Array} the frame
 */
export function frame(typeCode, write) {
  const body = new Writer(128);
  write(body);
  const whole = new Writer(body.at + 12);
  whole.long(typeCode);
  whole.data(body.bytes.subarray(0, body.at));
  return whole.done();
}

/**
 * @typedef {object} Hello
 * @property {string} client a name for people
 * @property {string} agent software and version
 * @property {string | null} token for a bus that wants one; with a user its password
 * @property {string | null} resume from an earlier Welcome
 * @property {Record<string, string>} attributes for the bus's operators
 * @property {string | null} change from ChangeBus
 * @property {string | null} user for a bus that wants one
 * @property {string | null} previous the session of the last Welcome
 */

/**
 * @param {Hello} hello
 * @returns {Uint8Array} frame 000
 */
export const encodeHello = hello => frame(TYPE.HELLO, body => {
  body.string(hello.client);
  body.string(hello.agent);
  body.optional(hello.token);
  body.optional(hello.resume);
  body.map(hello.attributes);
  body.optional(hello.change);
  body.optional(hello.user);
  body.optional(hello.previous);
});

/**
 * @param {number} id of the subscription
 * @param {string} filter
 * @param {string | null} group null for none
 * @param {Overflow} overflow
 * @returns {Uint8Array} frame 002
 */
export const encodeSubscribe = (id, filter, group, overflow) => frame(TYPE.SUBSCRIBE, body => {
  body.long(id);
  body.string(filter);
  body.optional(group);
  body.long(OVERFLOWS.indexOf(overflow));
});

/**
 * @param {typeof TYPE.UNSUBSCRIBE | typeof TYPE.UNREGISTER | typeof TYPE.BARRIER | typeof TYPE.ECHO} typeCode
 * @param {number} id
 * @returns {Uint8Array} frame 006, 011, 021 or 033, which have nothing but an id
 */
export const encodeId = (typeCode, id) => frame(typeCode, body => body.long(id));

/**
 * @param {string} token from ChangeBus
 * @param {string} message why
 * @returns {Uint8Array} frame 013
 */
export const encodeChangeBusFailed = (token, message) => frame(TYPE.CHANGE_BUS_FAILED, body => {
  body.string(token);
  body.string(message);
});

/**
 * @param {number} limit bytes since Welcome
 * @param {number} received of them
 * @returns {Uint8Array} frame 028
 */
export const encodeCredit = (limit, received) => frame(TYPE.CREDIT, body => {
  body.long(0);
  body.long(limit);
  body.long(received);
});

/**
 * @param {string} token with a user its password
 * @param {string | null} user
 * @returns {Uint8Array} frame 032
 */
export const encodeAuthenticate = (token, user) => frame(TYPE.AUTHENTICATE, body => {
  body.string(token);
  body.optional(user);
});

/**
 * @param {Reader} body
 * @returns {string[]} an array of text; none if the body has ended
 */
function strings(body, field = 'urls') {
  /** @type {string[]} */
  const all = [];
  if (!body.done) {
    body.blocks(field, 1, count => {
      for (let i = 0; i < count; i++) {
        all.push(body.string(field));
      }
    });
  }
  return all;
}

/**
 * @template {string} T
 * @param {Reader} body
 * @param {string} field
 * @param {readonly [T, ...T[]]} names symbols
 * @returns {T} the symbol; the first one for those that this version does not know
 */
export function symbol(body, field, names) {
  const at = body.at;
  const number = body.int(field);
  if (number < 0) {
    throw body.malformed(field, at, `symbol ${number}`, 'at least 0');
  }
  return names[number] ?? names[0];
}

/**
 * @param {Reader} body
 * @param {string} field
 * @param {number} min
 * @returns {number} an integer that is not smaller
 */
export function atLeast(body, field, min) {
  const { at } = body;
  const value = body.long(field);
  if (value < min) {
    throw body.malformed(field, at, String(value), `at least ${min}`);
  }
  return value;
}

/**
 * @param {number} expect 0 for nothing, 1 for an empty topic, else the position of its last event and 1
 * @param {number} delayMillis
 * @param {number} ttlMillis 0 for none
 * @param {string | null} producerName null for none
 * @param {number} number of the first event, with a name; else 0
 * @returns {Uint8Array} the last fields of a Publish, behind its events
 */
export function publishTail(expect, delayMillis, ttlMillis, producerName, number) {
  const tail = new Writer(30);
  tail.long(expect);
  tail.long(delayMillis);
  tail.long(ttlMillis);
  tail.optional(producerName);
  tail.long(number);
  return tail.done();
}

/**
 * @typedef {object} Welcome
 * @property {string} bus
 * @property {string} session
 * @property {bigint} producer
 * @property {string} resume
 * @property {Limits} limits
 * @property {string[]} others
 * @property {number} expiresAt µs since the epoch, 0 for never
 * @property {number} calls that the connection may have in flight
 * @property {number} services that it may serve
 * @property {number} tunnels that it may have open
 * @property {number} window of a tunnel at most, in bytes
 * @property {boolean} durable whether the bus has durable topics
 */

/**
 * @param {Reader} body
 * @returns {Welcome} of frame 007
 */
export const decodeWelcome = body => ({
  bus: body.string('bus'),
  session: body.string('session'),
  producer: body.bigint64('producer'),
  resume: body.string('resume'),
  limits: {
    payloadBytes: body.int('limits.payloadBytes'),
    messageBytes: body.int('limits.messageBytes'),
    headers: body.int('limits.headers'),
    headerBytes: body.int('limits.headerBytes'),
    subscriptions: body.int('limits.subscriptions'),
    queueBytes: body.long('limits.queueBytes'),
  },
  others: strings(body, 'others'),
  expiresAt: body.done ? 0 : body.long('expiresAt'),
  calls: body.done ? 0 : body.int('calls'),
  services: body.done ? 0 : body.int('services'),
  tunnels: body.done ? 0 : body.int('tunnels'),
  window: body.done ? 0 : body.int('window'),
  durable: !body.done && body.boolean('durable'),
});

/**
 * @typedef {object} ChangeBus
 * @property {string[]} urls
 * @property {ChangeReason} reason
 * @property {number} deadlineMillis
 * @property {string} token
 * @property {number} hops
 */

/**
 * @param {Reader} body
 * @returns {ChangeBus} of frame 003
 */
export const decodeChangeBus = body => ({
  urls: strings(body),
  reason: symbol(body, 'reason', CHANGE_REASONS),
  deadlineMillis: body.long('deadlineMillis'),
  token: body.string('token'),
  hops: body.int('hops'),
});

/**
 * @typedef {object} Problem
 * @property {BusCode} code
 * @property {string} message
 * @property {boolean} retryable
 * @property {number} about
 * @property {number} typeCode
 * @property {string} topic
 */

/**
 * @param {Reader} body
 * @returns {Problem} of frame 008
 */
export const decodeProblem = body => ({
  code: symbol(body, 'code', BUS_CODES),
  message: body.string('message'),
  retryable: body.boolean('retryable'),
  about: body.long('about'),
  typeCode: body.done ? -1 : body.int('typeCode'),
  topic: body.done ? '' : body.string('topic'),
});

/**
 * @typedef {object} Confirm
 * @property {number} typeCode
 * @property {number} about
 * @property {string} topic
 * @property {number} receivers that the events were queued for, -1 where the bus does not tell
 * @property {number} position of the last event in its journal, 0 for none or unknown
 * @property {boolean} repeated whether the bus had stored some of the events before
 * @property {number} creation of the journal, 0 for none or unknown
 */

/**
 * @param {Reader} body
 * @returns {Confirm} of frame 009
 */
export const decodeConfirm = body => {
  const typeCode = body.int('typeCode');
  const about = body.long('about');
  const topic = body.done ? '' : body.string('topic');
  const receivers = body.done ? -1 : body.long('receivers');
  return {
    typeCode,
    about,
    topic,
    // Only for events.
    receivers: typeCode === TYPE.PUBLISH ? receivers : -1,
    position: body.done ? 0 : atLeast(body, 'position', 0),
    repeated: !body.done && body.boolean('repeated'),
    creation: body.done ? 0 : atLeast(body, 'creation', 0),
  };
};

/**
 * @typedef {object} GapFrame
 * @property {string} topic
 * @property {bigint} producer
 * @property {number} from
 * @property {number} to
 * @property {typeof GAP_REASONS[number]} reason
 */

/**
 * @param {Reader} body
 * @returns {GapFrame} of frame 010
 */
export const decodeGap = body => ({
  topic: body.string('topic'),
  producer: body.bigint64('producer'),
  from: body.long('from'),
  to: body.long('to'),
  reason: symbol(body, 'reason', GAP_REASONS),
});
