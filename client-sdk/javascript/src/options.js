import { utf8 } from './wire/bytes.js';
import * as LIMIT from './wire/limit.js';

/** @import {Address, Options, Reconnect} from './types.js' */

const MIB = 2 ** 20;
const DAY = 86_400_000;

/**
 * Numeric options: default, minimum, maximum, unit. Infinity is accepted only where it is the maximum.
 * @type {Record<string, [number, number, number, string]>}
 */
const NUMBERS = {
  connectTimeout: [10_000, 1, DAY, ' ms'],
  confirmTimeout: [30_000, 1, DAY, ' ms'],
  silenceTimeout: [40_000, 100, DAY, ' ms'],
  closeTimeout: [10_000, 0, DAY, ' ms'],
  outboundBytes: [16 * MIB, 1024, 2 ** 40, ' bytes'],
  batchBytes: [65_536, 256, 4 * MIB, ' bytes'],
  blockTimeout: [30_000, 0, DAY, ' ms'],
  receiveBytes: [4 * MIB, 4096, 2 ** 40, ' bytes'],
  trackedProducers: [100_000, 1, 10_000_000, ''],
  hiddenFor: [Infinity, 0, Infinity, ' ms'],
};

/** @type {Record<string, [number, number, number, string]>} */
const RECONNECT = {
  initialDelay: [100, 1, DAY, ' ms'],
  maxDelay: [10_000, 1, DAY, ' ms'],
  multiplier: [2, 1, 100, ''],
  jitter: [0.5, 0, 1, ''],
  maxAttempts: [Infinity, 0, Infinity, ''],
};

const TLS = ['ca', 'cert', 'key', 'passphrase', 'servername'];
/** Names of the options of an event. */
export const OF_EVENT = ['key', 'headers', 'publishedAt', 'schema', 'codec'];
const OTHERS = ['url', 'name', 'user', 'token', 'attributes', 'signal', 'reconnect', 'whenFull', 'WebSocket', 'tls'];

/**
 * Checked options, with defaults filled in.
 * @typedef {object} Settings
 * @property {string[]} urls
 * @property {string} name
 * @property {string | null} user
 * @property {() => string | null | Promise<string>} token
 * @property {boolean} tokenCanChange
 * @property {Record<string, string>} attributes
 * @property {Required<Reconnect> | null} reconnect
 * @property {boolean} waitWhenFull
 * @property {import('./types.js').TlsOptions | undefined} tls
 * @property {number} connectTimeout
 * @property {number} confirmTimeout
 * @property {number} silenceTimeout
 * @property {number} closeTimeout
 * @property {number} outboundBytes
 * @property {number} batchBytes
 * @property {number} blockTimeout
 * @property {number} receiveBytes
 * @property {number} trackedProducers
 * @property {number} hiddenFor
 */

/**
 * @param {unknown} value
 * @returns {string} its text in an error, without possible secrets
 */
const shown = value => typeof value === 'number' ? String(value) : value === null ? 'null' : typeof value;

/**
 * @param {object} given
 * @param {Record<string, [number, number, number, string]>} table
 * @param {string} path before the names
 * @returns {Record<string, number>} the numbers
 */
export function numbers(given, table, path) {
  /** @type {Record<string, number>} */
  const all = {};
  for (const [name, [standard, min, max, unit]] of Object.entries(table)) {
    const value = /** @type {Record<string, unknown>} */ (given)[name];
    if (value !== undefined && !(typeof value === 'number' && value >= min && value <= max)) {
      throw new RangeError(`${path}${name}: ${shown(value)} (expected: ${min}..${max}${unit})`);
    }
    all[name] = value ?? standard;
  }
  return all;
}

/**
 * @param {object} given
 * @param {string[]} known
 * @param {string} path with a dot at its end, or empty
 */
export function refuseUnknown(given, known, path) {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`${path.slice(0, -1) || 'options'}: ${shown(given)} (expected: an object)`);
  }
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) {
      throw new TypeError(`${path}${name}: unknown option (expected: ${known.toSorted().join(', ')})`);
    }
  }
}

/**
 * @param {unknown} given
 * @returns {string} the address
 */
function checkUrl(given) {
  const url = given instanceof URL ? given.href : given;
  let parsed;
  try {
    parsed = new URL(String(url));
  } catch {
    // Reported below.
  }
  if (!parsed || typeof url !== 'string' || !/^wss?:$/.test(parsed.protocol) || parsed.hash || parsed.username || parsed.password) {
    throw new TypeError(`url: ${typeof url === 'string' ? JSON.stringify(url.replace(/\/\/[^/@]*@/, '//…@')) : shown(url)} `
      + '(expected: ws://host:port/bus or wss://…, without user and fragment)');
  }
  return url;
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} max bytes
 * @returns {string} the text
 */
export function checkText(name, value, max) {
  if (typeof value !== 'string' || utf8(value).length > max) {
    throw new TypeError(`${name}: ${typeof value === 'string' ? 'longer' : typeof value} (expected: text of at most ${max} bytes)`);
  }
  return value;
}

/**
 * @param {Record<string, string>} attributes
 * @returns {Record<string, string>} a copy
 */
function checkAttributes(attributes) {
  const all = Object.entries(attributes);
  let bytes = 0;
  for (const [name, value] of all) {
    bytes += utf8(checkText('attributes', name, LIMIT.nameBytes)).length;
    bytes += utf8(checkText(`attributes.${name}`, value, LIMIT.nameBytes)).length;
  }
  if (all.length > LIMIT.attributes || bytes > LIMIT.attributeBytes) {
    throw new RangeError(`attributes: ${all.length} of ${bytes} bytes (expected: at most ${LIMIT.attributes} of ${LIMIT.attributeBytes} bytes)`);
  }
  return { ...attributes };
}

/**
 * @param {Options} options
 * @returns {string | null} the user, if there is one
 */
function checkUser({ user, token }) {
  if (user === undefined) {
    return null;
  }
  if (checkText('user', user, LIMIT.nameBytes) === '') {
    throw new TypeError(`user: empty (expected: text of 1 to ${LIMIT.nameBytes} bytes)`);
  }
  if (token === undefined) {
    throw new TypeError('user: without token (expected: token is the password of the user)');
  }
  return user;
}

/**
 * @param {{bufferBytes?: number}} options of a subscription
 * @param {number} receiveBytes
 * @returns {number}
 */
export const checkBufferBytes = (options, receiveBytes) => /** @type {number} */ (
  // A quarter: four slow subscriptions fill the client's limit.
  numbers(options, { bufferBytes: [Math.max(1024, receiveBytes / 4), 1024, 2 ** 40, ' bytes'] }, '')['bufferBytes']);

/**
 * @param {Options | Address} given by the application
 * @returns {Options}
 */
export const optionsOf = given => typeof given === 'string' || given instanceof URL || Array.isArray(given) ? { url: given } : given;

/**
 * @param {Options | Address} given by the application
 * @param {boolean} inPage whether there is a document
 * @returns {Settings} all of it, checked
 */
export function settings(given, inPage) {
  const options = optionsOf(given);
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options: ${shown(options)} (expected: an address or an object with url)`);
  }
  refuseUnknown(options, [...OTHERS, ...Object.keys(NUMBERS)], '');
  const urls = (Array.isArray(options.url) ? options.url : [options.url]).map(checkUrl);
  if (urls.length === 0) {
    throw new TypeError('url: none (expected: at least one)');
  }
  const { token, reconnect = {}, whenFull = 'wait' } = options;
  if (whenFull !== 'wait' && whenFull !== 'fail') {
    throw new TypeError('whenFull: unknown (expected: wait or fail)');
  }
  const checkToken = (/** @type {unknown} */ value) => checkText('token', value, LIMIT.tokenBytes);
  if (typeof token === 'string') {
    checkToken(token);
  } else if (token !== undefined && typeof token !== 'function') {
    throw new TypeError(`token: ${typeof token} (expected: text, or a function that returns it)`);
  }
  if (typeof reconnect === 'object' && reconnect !== null) {
    refuseUnknown(reconnect, [...Object.keys(RECONNECT), 'retryFirst'], 'reconnect.');
    if (typeof (reconnect.retryFirst ?? false) !== 'boolean') {
      throw new TypeError(`reconnect.retryFirst: ${shown(reconnect.retryFirst)} (expected: a boolean)`);
    }
  } else if (reconnect !== false) {
    throw new TypeError(`reconnect: ${shown(reconnect)} (expected: an object or false)`);
  }
  if (options.tls !== undefined) {
    refuseUnknown(options.tls, TLS, 'tls.');
  }
  const own = /** @type {Settings} */ (/** @type {unknown} */ (numbers(options, NUMBERS, '')));
  if (inPage && options.trackedProducers === undefined) {
    own.trackedProducers = 10_000;
  }
  return {
    ...own,
    urls,
    name: checkText('name', options.name ?? 'js-client', LIMIT.nameBytes),
    user: checkUser(options),
    token: typeof token === 'function' ? async () => checkToken(await token()) : () => token ?? null,
    tokenCanChange: typeof token === 'function',
    attributes: checkAttributes(options.attributes ?? {}),
    reconnect: reconnect === false ? null : /** @type {Required<Reconnect>} */ (/** @type {unknown} */ ({
      ...numbers(reconnect, RECONNECT, 'reconnect.'), retryFirst: reconnect.retryFirst ?? false,
    })),
    waitWhenFull: whenFull === 'wait',
    tls: options.tls,
  };
}
