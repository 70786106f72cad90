import { EventBusError, textOf } from './errors.js';
import { numbers } from './options.js';
import { quote, topicProblem } from './topics.js';
import { utf8 } from './wire/bytes.js';
import { publishTail } from './wire/frames.js';
import * as LIMIT from './wire/limit.js';

/** @import {DurableOptions, Limits, SendOptions} from './types.js' */
/** @import {Writer} from './wire/writer.js' */

// Maximum bytes of the head of a frame, with the longest topic.
const AROUND_EVENT = 512;
const SHORT = 128;
const MAX_TIME = 3650 * 86_400_000;
/** @type {Record<string, [number, number, number, string]>} */
const TIMES = { delay: [0, 0, MAX_TIME, ' ms'], ttl: [0, 0, MAX_TIME, ' ms'] };

/** Limits assumed until a bus has told its own. */
const DEFAULTS = { payloadBytes: 2 ** 20, messageBytes: 2 ** 22, headers: 64, headerBytes: 16_384 };

/**
 * A checked event.
 *
 * @typedef {object} Event
 * @property {string | Uint8Array} payload text that is short is encoded in place
 * @property {string | Uint8Array | null} key
 * @property {Record<string, string> | null} headers
 * @property {number | undefined} publishedAt
 * @property {bigint} schema
 * @property {Uint8Array | null} tail what it asks of a durable topic: the last fields of its frame; null for nothing
 */

/**
 * @param {string} part
 * @param {number} size
 * @param {number} max
 */
function check(part, size, max) {
  if (size > max) {
    throw new EventBusError('TOO_BIG', `${part}: ${size} (expected: at most ${max})`);
  }
}

/**
 * @param {unknown} value
 * @param {SendOptions} options
 * @returns {string | Uint8Array} the payload
 */
function payloadOf(value, options) {
  if (options.codec) {
    try {
      const bytes = options.codec.encode(/** @type {never} */ (value));
      if (bytes instanceof Uint8Array) {
        return bytes;
      }
    } catch (thrown) {
      throw new EventBusError('UNREADABLE_PAYLOAD', `payload: ${textOf(thrown)}`, { cause: thrown });
    }
    throw new EventBusError('UNREADABLE_PAYLOAD', 'payload: the codec has made no Uint8Array of it (expected: bytes)');
  }
  if (typeof value === 'string') {
    return value.length <= SHORT ? value : utf8(value);
  }
  if (value instanceof Uint8Array) {
    return value;
  }
  if (value instanceof ArrayBuffer) {
    return new Uint8Array(value);
  }
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  let json;
  try {
    json = isLost(value) ? undefined : JSON.stringify(value);
    if (json === '{}' && !isPlain(/** @type {object} */ (value))) {
      json = undefined;
    }
  } catch (thrown) {
    throw new EventBusError('UNREADABLE_PAYLOAD', `payload: ${textOf(thrown)}`, { cause: thrown });
  }
  if (json === undefined) {
    throw new EventBusError('UNREADABLE_PAYLOAD', `payload: ${nameOf(value)} (expected: text, bytes, or a value that JSON can write)`);
  }
  return json.length <= SHORT ? json : utf8(json);
}

/**
 * @param {any} value
 * @returns {boolean} whether JSON would lose it: a promise that is not awaited, an error
 */
const isLost = value => value instanceof Error || typeof value?.then === 'function';

/**
 * @param {{toJSON?: unknown}} value
 * @returns {boolean} whether it is a plain object, which may be empty
 */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null || typeof value.toJSON === 'function';
}

/**
 * @param {DurableOptions} options
 * @returns {Uint8Array | null} the last fields of the Publish; null if they are the defaults
 */
function tailOf(options) {
  const { expected, delay, ttl, producer, number } = options;
  if ([expected, delay, ttl, producer, number].every(option => option === undefined)) {
    return null;
  }
  if (expected !== undefined && !(Number.isSafeInteger(expected) && expected >= 0 && expected < Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`expected: ${expected} (expected: 0 for an empty topic, or a position)`);
  }
  const times = numbers(options, TIMES, '');
  const fields = /** @type {const} */ ([expected === undefined ? 0 : expected + 1, Math.ceil(times['delay'] ?? 0), Math.ceil(times['ttl'] ?? 0)]);
  const name = producerOf(options);
  return name !== null || fields.some(field => field > 0) ? publishTail(...fields, name, number ?? 0) : null;
}

/**
 * @param {DurableOptions} options
 * @returns {string | null} the name of the producer; null for none
 */
function producerOf({ producer, number }) {
  if (producer === undefined && number === undefined) {
    return null;
  }
  if (typeof producer !== 'string' || topicProblem(producer) !== null || producer.includes('/') || utf8(producer).length > LIMIT.producerBytes) {
    throw new EventBusError('ILLEGAL_TOPIC',
      `producer: ${quote(String(producer))} (expected: the form of a topic, at most ${LIMIT.producerBytes} bytes, without /)`);
  }
  if (!(Number.isSafeInteger(number) && Number(number) > 0)) {
    throw new RangeError(`number: ${number} (expected: the event's number of the producer, 1 or more)`);
  }
  return producer;
}

/** @returns {EventBusError} the failure of an event that asks for what the bus does not have */
export const notDurable = () => new EventBusError('REFUSED',
  'the bus has no durable topics (expected: one that has, for expected, delay, ttl or producer)', { busCode: 'UNSUPPORTED', retryable: false });

/**
 * @param {any} value
 * @returns {string} its name in a message
 */
const nameOf = value => typeof value === 'object' ? value.constructor?.name ?? 'object' : typeof value;

/** @param {string | Uint8Array} text */
const maxBytes = text => typeof text === 'string' ? 3 * text.length : text.length;

/**
 * Checks an event against the protocol and the bus's limits.
 *
 * @param {unknown} value the payload
 * @param {SendOptions & DurableOptions} options
 * @param {Limits | null} limits of the bus
 * @param {number} outboundBytes of the buffer
 * @returns {{event: Event, max: number}} the event, and the maximum of its bytes
 */
export function estimate(value, options, limits, outboundBytes) {
  const bounds = limits ?? DEFAULTS;
  const maxEvent = Math.min(outboundBytes, bounds.messageBytes - AROUND_EVENT);
  let payload = payloadOf(value, options);
  if (typeof payload === 'string' && 8 * SHORT > Math.min(bounds.payloadBytes, maxEvent)) {
    // Its exact size has to be known.
    payload = utf8(payload);
  }
  check('payload', payload.length, bounds.payloadBytes);
  let max = 10 + 1 + 1 + 5 + maxBytes(payload);
  /** @type {string | Uint8Array | null} */
  let key = null;
  if (options.key !== undefined && options.key !== null) {
    if (typeof options.key !== 'string') {
      throw new TypeError(`key: ${typeof options.key} (expected: a string)`);
    }
    key = utf8(options.key);
    check('key', key.length, LIMIT.keyBytes);
    max += 3 + key.length;
  }
  const headers = options.headers ?? null;
  if (headers) {
    max += checkHeaders(headers, bounds);
  }
  const { publishedAt } = options;
  if (publishedAt !== undefined && !Number.isSafeInteger(publishedAt)) {
    throw new TypeError(`publishedAt: ${publishedAt} (expected: whole microseconds since 1970)`);
  }
  const schema = options.schema ?? options.codec?.fingerprint ?? 0n;
  if (typeof schema !== 'bigint' || BigInt.asIntN(64, schema) !== schema) {
    throw new TypeError('schema: no bigint of 64 bits (expected: a CRC-64-AVRO fingerprint)');
  }
  check('event bytes', max, maxEvent);
  return { event: { payload, key, headers, publishedAt, schema, tail: tailOf(options) }, max };
}

/**
 * @param {Record<string, string>} headers
 * @param {{headers: number, headerBytes: number}} limits
 * @returns {number} the maximum of their bytes
 */
function checkHeaders(headers, limits) {
  const names = Object.keys(headers);
  check('headers', names.length, limits.headers);
  let bytes = 0;
  for (const name of names) {
    const value = headers[name];
    if (typeof value !== 'string') {
      throw new TypeError(`headers.${name}: ${typeof value} (expected: a string)`);
    }
    bytes += utf8(name).length + utf8(value).length;
  }
  check('header bytes', bytes, limits.headerBytes);
  return bytes + 6 * names.length + 4;
}

/**
 * @param {Writer} w
 * @param {Event} event
 * @param {() => number} micros the time
 */
export function encodeEvent(w, { payload, key, headers, publishedAt }, micros) {
  w.long(publishedAt ?? micros());
  if (key === null) {
    w.boolean(false);
  } else {
    w.long(1);
    w.data(/** @type {Uint8Array} */ (key));
  }
  if (headers) {
    w.map(headers);
  } else {
    w.boolean(false);
  }
  if (typeof payload === 'string') {
    w.string(payload);
  } else {
    w.data(payload);
  }
}

/**
 * @param {{bytes: Uint8Array, payload: number, headers: number, headerBytes: number}} event encoded for another bus
 * @param {Limits} limits
 * @returns {EventBusError | null} why this bus does not accept it
 */
export function exceeds(event, limits) {
  const fits = event.payload <= limits.payloadBytes && event.headers <= limits.headers && event.headerBytes <= limits.headerBytes
    && event.bytes.length <= limits.messageBytes - AROUND_EVENT;
  return fits ? null : new EventBusError('TOO_BIG', `an event of ${event.bytes.length} bytes was made for a bus that takes more than the one `
    + `that the client has come to (expected: at most ${limits.payloadBytes} bytes of payload, and what its limits say of headers and messages)`);
}
