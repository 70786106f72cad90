import { EventBusError, textOf } from './errors.js';
import { encodeAuthenticate } from './wire/frames.js';

/** @import {BusLink} from './bus-link.js' */
/** @import {Settings} from './options.js' */
/** @import {Environment} from './internal.js' */

// Share of a token's life after which it is replaced at the latest, and how much earlier it may be.
const LATEST = 0.8;
const JITTER = 0.1;
// Minimum interval of replacements, however short a token's life is, in ms.
const MIN_INTERVAL = 1000;
const MAX_PAUSE = 30_000;
// Assumed life of a token that by this machine's clock has expired, in ms: the clock must be wrong.
const UNKNOWN_LIFE = 60_000;
// Timeout for the answer of the bus, in ms.
const ANSWER_TIMEOUT = 10_000;
// Maximum delay of a timer, in ms.
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Sends a bus a new token before the token of a connection expires. After a failure it tries again, with growing delays, until the bus ends the
 * connection; the next one begins with a new token.
 */
export class TokenRefresh {
  #settings;
  #env;
  #problem;
  /** @type {BusLink | null} */
  #link = null;
  /** @type {unknown} */
  #timer = null;
  #failures = 0;
  // Counts the requests, so that a late answer is recognised.
  #round = 0;
  /** @type {(expiresAt: number) => void} called when the bus has accepted a token, with its expiry in µs since the epoch */
  onRenewed = () => {};

  /**
   * @param {Settings} settings
   * @param {Environment} env
   * @param {(error: EventBusError) => void} problem reports to the application
   */
  constructor(settings, env, problem) {
    this.#settings = settings;
    this.#env = env;
    this.#problem = problem;
  }

  /**
   * Begins with a connection that a bus has welcomed.
   * @param {BusLink} link the connection
   * @param {number} expiresAt µs since the epoch, 0 for never
   */
  begin(link, expiresAt) {
    this.end();
    if (this.#settings.tokenCanChange && expiresAt !== 0) {
      this.#link = link;
      const left = (expiresAt - this.#env.micros()) / 1000;
      this.#later(() => this.#ask(), Math.max(MIN_INTERVAL, (left > 0 ? left : UNKNOWN_LIFE) * (LATEST - JITTER * this.#env.random())));
    }
  }

  /** Stops, because the connection is no longer the client's. */
  end() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#link = null;
    this.#failures = 0;
    this.#round++;
  }

  /**
   * Handles the acceptance of a token.
   * @param {BusLink} link
   * @param {number} expiresAt µs since the epoch, 0 for never
   */
  renewed(link, expiresAt) {
    if (link === this.#link) {
      this.begin(link, expiresAt);
      this.onRenewed(expiresAt);
    }
  }

  /**
   * Handles the refusal of a token, and reports it to the application.
   * @param {BusLink} link
   */
  refused(link) {
    if (link === this.#link) {
      this.#retryLater();
    }
  }

  async #ask() {
    const { token, user, connectTimeout } = this.#settings;
    const round = ++this.#round;
    this.#later(() => this.#fail(new EventBusError('TIMED_OUT', `no token: the function gave none within ${connectTimeout} ms`)), connectTimeout);
    try {
      const next = /** @type {string} */ (await token());
      if (round === this.#round) {
        this.#later(() => this.#fail(new EventBusError('TIMED_OUT', `no answer to a new token within ${ANSWER_TIMEOUT} ms`)), ANSWER_TIMEOUT);
        this.#link?.channel.send([encodeAuthenticate(next, user)]);
      }
    } catch (cause) {
      if (round === this.#round) {
        this.#fail(new EventBusError('NO_TOKEN', `no token: ${textOf(cause)}`, { cause }));
      }
    }
  }

  /** @param {EventBusError} why */
  #fail(why) {
    this.#retryLater();
    this.#problem(why);
  }

  #retryLater() {
    this.#round++;
    const pause = Math.min(MAX_PAUSE, MIN_INTERVAL * 2 ** this.#failures++);
    this.#later(() => this.#ask(), pause * (1 - this.#env.random() / 2));
  }

  /**
   * @param {() => void} task
   * @param {number} delay
   */
  #later(task, delay) {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = this.#env.setTimeout(task, Math.min(MAX_TIMER, delay));
  }
}
