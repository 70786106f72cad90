import { EventBusError, textOf } from './errors.js';
import { encodeAuthenticate } from './wire/frames.js';

/** @import {BusLink} from './bus-link.js' */
/** @import {Settings} from './options.js' */
/** @import {Environment} from './internal.js' */

// Of a token's life: when it is replaced at the latest, and how much earlier it may be.
const LATEST = 0.8;
const JITTER = 0.1;
// A token is not replaced more often, however short its life is, in ms.
const MIN = 1000;
const MAX_PAUSE = 30_000;
// The life of a token that by this machine's clock has expired: the clock must be wrong.
const UNKNOWN_LIFE = 60_000;
// A bus answers within a few seconds.
const ANSWER = 10_000;
// What a timer can wait for.
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Shows a bus a new token before the one that a connection has expires. Where that fails it is tried again, later each time, until the bus
 * ends the connection; the next one begins with a new token.
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
  // Counts the questions, so that an answer that comes late is known.
  #round = 0;
  /** @type {(expiresAt: number) => void} is called when the bus has taken a token, with µs since the epoch */
  onRenewed = () => {};

  /**
   * @param {Settings} settings
   * @param {Environment} env
   * @param {(error: EventBusError) => void} problem tells the application
   */
  constructor(settings, env, problem) {
    this.#settings = settings;
    this.#env = env;
    this.#problem = problem;
  }

  /**
   * A bus has let this client in.
   * @param {BusLink} link the connection
   * @param {number} expiresAt µs since the epoch, 0 for never
   */
  begin(link, expiresAt) {
    this.end();
    if (this.#settings.tokenCanChange && expiresAt !== 0) {
      this.#link = link;
      const left = (expiresAt - this.#env.micros()) / 1000;
      this.#later(() => this.#ask(), Math.max(MIN, (left > 0 ? left : UNKNOWN_LIFE) * (LATEST - JITTER * this.#env.random())));
    }
  }

  /** The connection is this client's no longer. */
  end() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#link = null;
    this.#failures = 0;
    this.#round++;
  }

  /**
   * The bus has taken a token.
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
   * The bus has refused a token, which the application is told.
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
        this.#later(() => this.#fail(new EventBusError('TIMED_OUT', `no answer to a new token within ${ANSWER} ms`)), ANSWER);
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
    const pause = Math.min(MAX_PAUSE, MIN * 2 ** this.#failures++);
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
