/** @import {Environment} from './internal.js' */

/** After a sleep the bus has so long to answer, in ms. */
const AFTER_SLEEP = 5000;
// A timer that is less late has not slept, in ms.
const LATE = 1000;
// Timers may come so much early, in ms.
const EARLY = 1;

/**
 * What is watched.
 *
 * @typedef {object} Line
 * @property {number} heardAt when something was received last, in ms
 * @property {() => void} probe asks the bus for a sign of life
 */

/**
 * Notices that a connection is dead though nothing has said so: after half of the time without a sign it asks, after the other half it
 * gives up. It judges by time stamps: the timers of a hidden page come once in a minute, and those of a machine that sleeps not at all.
 */
export class SilenceWatch {
  #env;
  #line;
  #onSilent;
  #half;
  /** @type {unknown} */
  #timer = null;
  #dueAt = 0;
  #askedAt = -Infinity;
  // Whether that was because a timer came late.
  #isAfterSleep = false;
  // How long the answer may take.
  #answerTimeout = 0;

  /**
   * @param {Environment} env
   * @param {Line} line
   * @param {number} timeout in ms
   * @param {() => void} onSilent is called once
   */
  constructor(env, line, timeout, onSilent) {
    this.#env = env;
    this.#line = line;
    this.#half = timeout / 2;
    this.#onSilent = onSilent;
  }

  start() {
    this.#lookIn(this.#half);
  }

  stop() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }

  /**
   * Asks now.
   * @param {number} timeout in ms
   */
  probe(timeout) {
    this.#askedAt = this.#env.now();
    this.#answerTimeout = timeout;
    this.#line.probe();
    this.#lookIn(timeout);
  }

  /** @param {number} delay */
  #lookIn(delay) {
    this.stop();
    this.#dueAt = this.#env.now() + delay;
    this.#timer = this.#env.setTimeout(() => this.#look(delay), delay);
  }

  /** @param {number} delay that was wanted */
  #look(delay) {
    this.#timer = null;
    const now = this.#env.now();
    const silent = now - this.#line.heardAt;
    const overslept = now - this.#dueAt > Math.max(delay, LATE);
    if (this.#line.heardAt >= this.#askedAt) {
      this.#isAfterSleep = false;
      if (silent < this.#half - EARLY) {
        this.#lookIn(this.#half - silent);
      } else {
        this.#isAfterSleep = overslept;
        this.probe(overslept ? Math.min(AFTER_SLEEP, this.#half) : 2 * this.#half - silent);
      }
    } else if (overslept && !this.#isAfterSleep) {
      // Whether there was an answer cannot be known: the question is asked once more, and only once, because timers may stay late.
      this.#isAfterSleep = true;
      this.probe(Math.min(AFTER_SLEEP, this.#half));
    } else if (now - this.#askedAt < this.#answerTimeout - EARLY) {
      this.#lookIn(this.#answerTimeout - (now - this.#askedAt));
    } else {
      this.#onSilent();
    }
  }
}
