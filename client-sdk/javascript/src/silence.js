/** @import {Environment} from './internal.js' */

/** Timeout for an answer after a sleep of the machine, in ms. */
const SLEEP_TIMEOUT = 5000;
// Minimum delay of a timer that counts as a sleep of the machine, in ms.
const MIN_SLEEP = 1000;
// Time by which timers may be early, in ms.
const EARLY = 1;

/**
 * The watched connection.
 *
 * @typedef {object} WatchedLink
 * @property {number} heardAt time of the last receipt, in ms
 * @property {() => void} probe sends a probe that the bus answers
 */

/**
 * Detects a dead connection: probes after half of the timeout without a receipt, gives up after the other half. Decides by time stamps: timers of a
 * hidden page fire once in a minute, and those of a sleeping machine not at all.
 */
export class SilenceWatch {
  #env;
  #link;
  #onSilent;
  #half;
  /** @type {unknown} */
  #timer = null;
  #dueAt = 0;
  #askedAt = -Infinity;
  // Set if the last probe was sent because a timer was late.
  #isAfterSleep = false;
  // Timeout for the answer to the probe.
  #answerTimeout = 0;

  /**
   * @param {Environment} env
   * @param {WatchedLink} link
   * @param {number} timeout in ms
   * @param {() => void} onSilent called once
   */
  constructor(env, link, timeout, onSilent) {
    this.#env = env;
    this.#link = link;
    this.#half = timeout / 2;
    this.#onSilent = onSilent;
  }

  start() {
    this.#checkIn(this.#half);
  }

  stop() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }

  /**
   * Sends a probe now.
   * @param {number} timeout in ms
   */
  probe(timeout) {
    this.#askedAt = this.#env.now();
    this.#answerTimeout = timeout;
    this.#link.probe();
    this.#checkIn(timeout);
  }

  /** @param {number} delay */
  #checkIn(delay) {
    this.stop();
    this.#dueAt = this.#env.now() + delay;
    this.#timer = this.#env.setTimeout(() => this.#check(delay), delay);
  }

  /** @param {number} delay that was wanted */
  #check(delay) {
    this.#timer = null;
    const now = this.#env.now();
    const silent = now - this.#link.heardAt;
    const overslept = now - this.#dueAt > Math.max(delay, MIN_SLEEP);
    if (this.#link.heardAt >= this.#askedAt) {
      this.#isAfterSleep = false;
      if (silent < this.#half - EARLY) {
        this.#checkIn(this.#half - silent);
      } else {
        this.#isAfterSleep = overslept;
        this.probe(overslept ? Math.min(SLEEP_TIMEOUT, this.#half) : 2 * this.#half - silent);
      }
    } else if (overslept && !this.#isAfterSleep) {
      // An answer may have been missed: probes once more, and only once, because timers may stay late.
      this.#isAfterSleep = true;
      this.probe(Math.min(SLEEP_TIMEOUT, this.#half));
    } else if (now - this.#askedAt < this.#answerTimeout - EARLY) {
      this.#checkIn(this.#answerTimeout - (now - this.#askedAt));
    } else {
      this.#onSilent();
    }
  }
}
