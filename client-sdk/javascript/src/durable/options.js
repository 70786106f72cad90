import { EventBusError } from '../errors.js';
import { numbers, refuseUnknown } from '../options.js';
import { checkFilter, topicProblem } from '../topics.js';
import { utf8 } from '../wire/bytes.js';

/** @import {ConsumeOptions, Decoder, Start, Truncated, WorkerOptions} from '../types.js' */

const OPTIONS = ['filter', 'journal', 'from', 'bufferBytes', 'codec', 'signal', 'onTruncated'];
const MAX_NAME_BYTES = 128;
/** @type {Record<string, [number, number, number, string]>} */
const BUFFER = { bufferBytes: [2 ** 20, 1024, 2 ** 30, ' bytes'] };
/** @type {Record<string, [number, number, number, string]>} */
const WORKER = {
  maxUnsettled: [256, 1, 1024, ' events'],
  ackTimeout: [30_000, 1000, 43_200_000, ' ms'],
  maxAttempts: [10, 1, 1000, ''],
  concurrency: [1, 1, 1000, ''],
};
const STARTS = /** @type {const} */ (['FIRST', 'NEW', 'LATEST_VALUES']);

/**
 * Checked options of a consumer, with defaults filled in.
 *
 * @typedef {object} ConsumeSettings
 * @property {string} name empty for none
 * @property {string} filter
 * @property {string} journal empty for the only one that has topics of the filter
 * @property {'FIRST' | 'NEW' | 'LATEST_VALUES' | 'POSITION' | 'TIME'} start
 * @property {number} from a position, or µs since 1970; else 0
 * @property {number} bufferBytes
 * @property {Decoder | null} codec
 * @property {AbortSignal | undefined} signal
 * @property {((truncated: Truncated) => void | Promise<void>) | undefined} onTruncated
 *
 * @typedef {object} WorkLimits
 * @property {number} maxUnsettled events
 * @property {number} ackTimeout ms
 * @property {number} maxAttempts deliveries
 * @property {number} concurrency handlers
 *
 * @typedef {ConsumeSettings & WorkLimits} WorkerSettings
 */

/**
 * @param {string} what
 * @param {unknown} name
 * @returns {string} the name
 */
function checkName(what, name) {
  if (typeof name !== 'string') {
    throw new TypeError(`${what}: ${typeof name} (expected: a name)`);
  }
  const bytes = utf8(name).length;
  const problem = topicProblem(name) ?? (bytes > MAX_NAME_BYTES ? `${bytes} bytes of UTF-8 (expected: at most ${MAX_NAME_BYTES})` : null);
  if (problem !== null) {
    throw new EventBusError('ILLEGAL_TOPIC', `${what}: ${problem}`);
  }
  return name;
}

/**
 * @param {unknown} number
 * @param {string} what
 * @param {string} unit
 * @returns {number} the number
 */
function checkNumber(number, what, unit) {
  if (!Number.isSafeInteger(number) || /** @type {number} */ (number) < 0) {
    throw new RangeError(`${what}: ${typeof number === 'number' ? number : typeof number} (expected: ${unit})`);
  }
  return /** @type {number} */ (number);
}

/**
 * @param {Start} given
 * @returns {Pick<ConsumeSettings, 'start' | 'from'>}
 */
function checkStart(given) {
  if (typeof given === 'object' && given !== null) {
    refuseUnknown(given, ['position', 'time'], 'from.');
    const { position, time } = /** @type {{position?: number, time?: Date | number}} */ (given);
    if (position !== undefined && time === undefined) {
      return { start: 'POSITION', from: checkNumber(position, 'from.position', 'a position') };
    }
    if (time !== undefined && position === undefined) {
      const micros = time instanceof Date ? time.getTime() * 1000 : time;
      return { start: 'TIME', from: checkNumber(micros, 'from.time', 'a Date, or whole microseconds since 1970') };
    }
  } else if (STARTS.includes(given)) {
    return { start: given, from: 0 };
  }
  throw new TypeError(`from: unknown (expected: ${STARTS.join(', ')}, { position } or { time })`);
}

/**
 * @param {string | null} name of a durable subscription; null for none
 * @param {ConsumeOptions} options
 * @param {ConsumeOptions} fixed options that the application does not choose
 * @param {string[]} [known] names of options
 * @returns {ConsumeSettings}
 */
export function checkConsume(name, options, fixed, known = OPTIONS) {
  refuseUnknown(options, known.filter(option => !(option in fixed)), '');
  const { filter = '>', journal, from = 'NEW', codec, signal, onTruncated } = { ...options, ...fixed };
  checkFilter('filter' in fixed ? fixed.filter : filter);
  if (onTruncated !== undefined && typeof onTruncated !== 'function') {
    throw new TypeError(`onTruncated: ${typeof onTruncated} (expected: a function)`);
  }
  return {
    name: name === null ? '' : checkName('name', name),
    filter,
    journal: journal === undefined ? '' : checkName('journal', journal),
    ...checkStart(from),
    bufferBytes: /** @type {number} */ (numbers(options, BUFFER, '')['bufferBytes']),
    codec: codec ?? null,
    signal,
    onTruncated,
  };
}

/**
 * @param {string} name
 * @param {WorkerOptions} options
 * @returns {WorkerSettings}
 */
export function checkWorker(name, options) {
  const limits = numbers(options, WORKER, '');
  Object.entries(limits).forEach(([limit, value]) => checkNumber(value, limit, 'a whole number'));
  if (/** @type {unknown} */ (options.from) === 'LATEST_VALUES') {
    throw new TypeError('from: LATEST_VALUES (expected: another start, because a worker gets every event)');
  }
  return { ...checkConsume(name, options, {}, [...OPTIONS, ...Object.keys(WORKER)]), .../** @type {WorkLimits} */ (/** @type {unknown} */ (limits)) };
}
