import { encodeSharedSettle } from '../wire/durable-frames.js';

/** @import {EventBusError} from '../errors.js' */
/** @import {SettleOutcome} from '../wire/durable-frames.js' */
/** @import {WorkerFeed} from './worker-feeds.js' */

/**
 * Neighbours of one `Feed` with the same outcome.
 *
 * @typedef {object} Range
 * @property {WorkerFeed} feed
 * @property {number} first number of the first one in its feed
 * @property {number} last number of the last one
 * @property {number} from position of the first one
 * @property {number} to position of the last one
 * @property {SettleOutcome} outcome
 * @property {number} delayMillis of RETRY; -1 for that of the bus
 * @property {string} reason
 *
 * @typedef {object} Answer
 * @property {() => void} resolve
 * @property {(error: EventBusError) => void} reject
 */

// Maximum number of settlements that are sent and not answered; a bus allows 256.
const MAX_SENT = 128;

/**
 * @param {number} id of the consumer
 * @param {Range} range
 * @param {boolean} confirm whether the bus is to answer
 * @param {number} creation of the journal
 * @returns {Uint8Array}
 */
export const frameOf = (id, { feed, from, to, outcome, delayMillis, reason }, confirm, creation) =>
  encodeSharedSettle(id, to, confirm, creation, { from, outcome, attempt: feed.attempt, delayMillis, reason });

/**
 * @param {Range[]} ranges
 * @returns {Range[]} with neighbours of the same outcome in one
 */
export function merged(ranges) {
  /** @type {Range[]} */
  const all = [];
  for (const range of ranges.toSorted((a, b) => a.feed.number - b.feed.number || a.first - b.first)) {
    const before = all.at(-1);
    if (before?.feed === range.feed && before.last + 1 === range.first && before.outcome === range.outcome
        && before.delayMillis === range.delayMillis && before.reason === range.reason) {
      all[all.length - 1] = { ...before, last: range.last, to: range.to };
    } else {
      all.push(range);
    }
  }
  return all;
}

/**
 * Settlements over one connection for whose answers calls wait.
 *
 * A refusal does not say which settlement it is for. But each has one answer: when as many are refused as have no other answer, those are the refused
 * ones. Until then no others are sent.
 */
export class SettleAnswers {
  /** @type {{range: Range, answer: Answer}[]} */
  #waiting = [];
  /** @type {Map<number, Answer>} by position */
  #sent = new Map();
  /** @type {EventBusError[]} */
  #refusals = [];

  /**
   * @param {Range} range of one event
   * @param {Answer} answer
   */
  add(range, answer) {
    this.#waiting.push({ range, answer });
  }

  /** @returns {Range | undefined} the next settlement to send now */
  next() {
    const [first] = this.#waiting;
    if (!first || this.#refusals.length > 0 || this.#sent.size === MAX_SENT || this.#sent.has(first.range.to)) {
      return undefined;
    }
    this.#waiting.shift();
    this.#sent.set(first.range.to, first.answer);
    return first.range;
  }

  /** @param {number} position whose settlement is stored */
  confirmed(position) {
    this.#sent.get(position)?.resolve();
    this.#sent.delete(position);
    this.#tell();
  }

  /**
   * @param {EventBusError} failure
   * @returns {boolean} whether a settlement waits for an answer
   */
  refused(failure) {
    const isExpected = this.#sent.size > 0;
    if (isExpected) {
      this.#refusals.push(failure);
      this.#tell();
    }
    return isExpected;
  }

  /** Rejects the refused ones, as soon as it is known which. */
  #tell() {
    if (this.#sent.size <= this.#refusals.length) {
      [...this.#sent.values()].forEach((answer, i) => answer.reject(/** @type {EventBusError} */ (this.#refusals[i])));
      this.#sent.clear();
      this.#refusals = [];
    }
  }

  /** @param {EventBusError} failure of all of them: no answers come any more */
  end(failure) {
    this.#sent.forEach(answer => answer.reject(failure));
    this.#waiting.forEach(({ answer }) => answer.reject(failure));
    this.#sent.clear();
    this.#waiting = this.#refusals = [];
  }
}
