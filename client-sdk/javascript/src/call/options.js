import { EventBusError } from '../errors.js';
import { checkText, numbers, OF_EVENT, refuseUnknown } from '../options.js';
import { topicProblem } from '../topics.js';
import { utf8 } from '../wire/bytes.js';
import * as LIMIT from '../wire/limit.js';
import { PRIORITIES } from '../wire/names.js';

/** @import {Decoder, Encoder, Priority, RequestOptions, Retry, ServeOptions} from '../types.js' */

const MAX_TIMEOUT = 600_000;
const MIB = 2 ** 20;
const TIMES = /** @type {Record<string, [number, number, number, string]>} */ ({
  timeout: [30_000, 1, MAX_TIMEOUT, ' ms'],
  waitFor: [0, 0, MAX_TIMEOUT, ' ms'],
});
const RETRY = /** @type {Record<string, [number, number, number, string]>} */ ({
  attempts: [3, 1, 1000, ''],
  initialDelay: [50, 1, MAX_TIMEOUT, ' ms'],
  maxDelay: [2000, 1, MAX_TIMEOUT, ' ms'],
  multiplier: [2, 1, 10, ''],
  jitter: [0.5, 0, 1, ''],
});
const SERVE = /** @type {Record<string, [number, number, number, string]>} */ ({
  concurrency: [16, 1, 65_536, ''],
  rememberReplies: [0, 0, 1_000_000, ''],
  bufferBytes: [16 * MIB, 1024, 1024 * MIB, ' bytes'],
});
const SERVE_OTHERS = ['identify', 'version', 'metadata', 'codec', 'replyCodec', 'signal'];
const REQUEST = [...OF_EVENT, ...Object.keys(TIMES), 'method', 'idempotent', 'priority', 'member', 'retry', 'replyCodec', 'signal'];
const CALL_BYTES = /** @type {Record<string, [number, number, number, string]>} */ ({ callBytes: [16 * MIB, 1024, 2 ** 40, ' bytes'] });
const ONCE = { attempts: 1, initialDelay: 50, maxDelay: 2000, multiplier: 2, jitter: 0.5 };
const STANDARD = retryOf({});

/**
 * @param {Retry} retry
 * @returns {Required<Retry>}
 */
function retryOf(retry) {
  refuseUnknown(retry, Object.keys(RETRY), 'retry.');
  return /** @type {Required<Retry>} */ (/** @type {unknown} */ (numbers(retry, RETRY, 'retry.')));
}

/** @param {unknown} name of a service */
export function checkService(name) {
  if (typeof name !== 'string') {
    throw new TypeError(`service: ${typeof name} (expected: a string)`);
  }
  const bytes = utf8(name).length;
  const problem = topicProblem(name) ?? (bytes > LIMIT.serviceBytes ? `${bytes} bytes of UTF-8 (expected: at most ${LIMIT.serviceBytes})` : null);
  if (problem !== null) {
    throw new EventBusError('ILLEGAL_TOPIC', `service: ${problem}`);
  }
}

/**
 * Checked options of a request, with defaults filled in.
 *
 * @typedef {object} RequestSettings
 * @property {string} service
 * @property {string} method
 * @property {number} timeout
 * @property {number} waitFor
 * @property {boolean} idempotent
 * @property {Priority} priority
 * @property {bigint} member
 * @property {Required<Retry>} retry
 * @property {boolean} retriesRefused whether a request that was refused with a retry-after time is sent again, as long as there is time
 * @property {Decoder | null} codec of the reply
 */

/**
 * @param {string} service
 * @param {RequestOptions} options
 * @returns {RequestSettings}
 */
export function checkRequest(service, options) {
  refuseUnknown(options, REQUEST, '');
  checkService(service);
  const { method = '', idempotent = false, priority = 'NORMAL', member = 0n, retry, replyCodec = null } = options;
  const times = numbers(options, TIMES, '');
  if (!PRIORITIES.includes(priority)) {
    throw new TypeError(`priority: unknown (expected: ${PRIORITIES.join(', ')})`);
  }
  if (typeof member !== 'bigint' || BigInt.asIntN(64, member) !== member) {
    throw new TypeError(`member: ${typeof member} (expected: the bigint of an earlier Response)`);
  }
  checkFlag('idempotent', idempotent);
  return {
    service, method: checkText('method', method, LIMIT.nameBytes), timeout: /** @type {number} */ (times['timeout']),
    waitFor: /** @type {number} */ (times['waitFor']), idempotent, priority, member, codec: replyCodec,
    retry: retry === undefined ? (idempotent ? STANDARD : ONCE) : retry === false ? ONCE : retryOf(retry),
    retriesRefused: retry === undefined,
  };
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function checkFlag(name, value) {
  if (typeof value !== 'boolean') {
    throw new TypeError(`${name}: ${typeof value} (expected: a boolean)`);
  }
}

/**
 * Checked options of a service.
 *
 * @typedef {object} ServeSettings
 * @property {number} concurrency
 * @property {number} rememberReplies
 * @property {number} bufferBytes
 * @property {boolean} identify
 * @property {string} version
 * @property {Record<string, string>} metadata
 * @property {Decoder | null} codec
 * @property {Encoder | null} replyCodec
 */

/**
 * @param {string} name
 * @param {ServeOptions} options
 * @returns {ServeSettings}
 */
export function checkServe(name, options) {
  checkService(name);
  refuseUnknown(options, [...Object.keys(SERVE), ...SERVE_OTHERS], '');
  const { identify = false, version = '', metadata = {}, codec = null, replyCodec = null } = options;
  checkFlag('identify', identify);
  const all = Object.entries(metadata);
  let bytes = 0;
  for (const [name, value] of all) {
    bytes += utf8(checkText('metadata', name, LIMIT.nameBytes)).length + utf8(checkText(`metadata.${name}`, value, LIMIT.nameBytes)).length;
  }
  if (all.length > LIMIT.metadata || bytes > LIMIT.metadataBytes) {
    throw new RangeError(`metadata: ${all.length} of ${bytes} bytes (expected: at most ${LIMIT.metadata} of ${LIMIT.metadataBytes} bytes)`);
  }
  const counts = numbers(options, SERVE, '');
  for (const name of ['concurrency', 'rememberReplies']) {
    if (!Number.isInteger(counts[name])) {
      throw new RangeError(`${name}: ${counts[name]} (expected: a whole number)`);
    }
  }
  return {
    .../** @type {{concurrency: number, rememberReplies: number, bufferBytes: number}} */ (/** @type {unknown} */ (counts)),
    identify, version: checkText('version', version, LIMIT.nameBytes), metadata: { ...metadata }, codec, replyCodec,
  };
}

/**
 * @param {{callBytes?: number | undefined}} options
 * @returns {number}
 */
export const checkCallBytes = options => /** @type {number} */ (numbers(options, CALL_BYTES, '')['callBytes']);
