import { shorten } from '../bus-link.js';

/** @import {BusEvent} from '../event.js' */
/** @import {SettleOutcome} from '../wire/durable-frames.js' */
/** @import {Range} from './settlements.js' */
/** @import {WorkerFeed, WorkerFeeds} from './worker-feeds.js' */

const MAX_DELAY = 7 * 86_400_000;
const MAX_REASON_BYTES = 256;

/**
 * Delivery of an event to a worker, which is settled once: the first of `done`, `doneConfirmed`, `retry`, `reject` and `release` counts, and later ones do
 * nothing. A settlement may be lost with the connection, or come after the ack timeout. The event then comes again, to some consumer.
 */
export class WorkDelivery {
  /** @internal */
  isSettled = false;
  /**
   * @type {WorkerFeed}
   * @internal
   */
  feed;
  /**
   * Begin of the ack timeout, in ms.
   * @type {number}
   * @internal
   */
  extendedAt;
  #feeds;
  #index;
  /** @type {Promise<void> | null} */
  #confirmation = null;

  /**
   * Made by the SDK.
   * @param {WorkerFeeds} feeds
   * @param {WorkerFeed} feed
   * @param {number} index of its event
   * @param {number} now ms
   * @internal
   */
  constructor(feeds, feed, index, now) {
    this.#feeds = feeds;
    this.#index = index;
    this.feed = feed;
    this.extendedAt = now;
  }

  /** @returns {number} the number of this delivery of the event, 1 for the first one */
  get attempt() {
    return this.feed.attempt;
  }

  /** Settles the event: it is handled, and does not come again. */
  done() {
    this.#settle('DONE');
  }

  /**
   * Settles the event as `done`, and tells when that is stored: then it never comes again.
   * @returns {Promise<void>} rejects with REFUSED if the bus has given the event to another consumer, with CONNECTION_LOST or TIMED_OUT (after 10 s)
   *   if the outcome is not known, and with a TypeError if the event was settled otherwise
   */
  doneConfirmed() {
    this.#confirmation ??= this.#feeds.confirm(this);
    return this.#confirmation;
  }

  /**
   * Has the event come again.
   * @param {number} [delay] ms until then, at most 7 days; by default the bus chooses a pause by the number of attempts
   * @throws {RangeError} if the delay is out of range
   */
  retry(delay) {
    if (delay !== undefined && !(delay >= 0 && delay <= MAX_DELAY)) {
      throw new RangeError(`delay: ${delay} (expected: 0..${MAX_DELAY} ms)`);
    }
    this.#settle('RETRY', delay === undefined ? -1 : Math.ceil(delay));
  }

  /**
   * Makes the event a dead letter, which comes to no consumer.
   * @param {string} reason for people; at most 256 bytes of UTF-8 are kept
   * @throws {TypeError} if it is no text
   */
  reject(reason) {
    if (typeof reason !== 'string') {
      throw new TypeError(`reason: ${typeof reason} (expected: text)`);
    }
    this.#settle('REJECT', -1, reason);
  }

  /** Gives the event back: another consumer gets it at once, and this delivery does not count. */
  release() {
    this.#settle('RELEASE');
  }

  /** Begins the ack timeout again. Does nothing within an eighth of the ack timeout of the last time, or if the event is settled. */
  extend() {
    this.#feeds.extend(this);
  }

  /**
   * Has the event come again, because the handler has failed.
   * @param {string} reason
   * @internal
   */
  failed(reason) {
    this.#settle('RETRY', -1, reason);
  }

  /**
   * @returns {BusEvent}
   * @internal
   */
  get event() {
    return /** @type {BusEvent} */ (this.feed.events[this.#index]);
  }

  /**
   * @param {SettleOutcome} outcome
   * @param {number} [delayMillis]
   * @param {string} [reason]
   */
  #settle(outcome, delayMillis, reason) {
    this.#feeds.settle(this, this.range(outcome, delayMillis, reason));
  }

  /**
   * @param {SettleOutcome} outcome
   * @param {number} [delayMillis] -1 for that of the bus
   * @param {string} [reason]
   * @returns {Range} that of this event alone
   * @internal
   */
  range(outcome, delayMillis = -1, reason = '') {
    const { feed } = this;
    const { position } = this.event;
    return { feed, first: this.#index, last: this.#index, from: position, to: position, outcome, delayMillis, reason: shorten(reason, MAX_REASON_BYTES) };
  }
}
