import { EventBusError } from './errors.js';

/** @import {End} from './bus-link.js' */
/** @import {Reconnect} from './types.js' */

/** A connection that ends sooner does not count as a success, in ms. */
const HELD = 5000;
// HTTP statuses below 500 that are about now.
const LATER = [408, 425, 429];

/** Counts the tries since a connection last held, and says whether and when there is another. */
export class ReconnectBackoff {
  #policy;
  #random;
  /** The number of the try that was begun last. */
  attempt = 0;
  /** Tries in a row that led to no `Welcome`. */
  unwelcome = 0;

  /**
   * @param {Required<Reconnect> | null} policy null for none
   * @param {() => number} random
   */
  constructor(policy, random) {
    this.#policy = policy;
    this.#random = random;
  }

  /** The next try is the first one again. */
  reset() {
    this.attempt = 0;
  }

  /**
   * A connection that a bus has welcomed has ended.
   * @param {number} after ms
   * @returns {boolean} whether it has held
   */
  ended(after) {
    // The longer it was there, the more is forgotten; a bus that ends it at once is not overrun.
    this.attempt = Math.floor(this.attempt * Math.max(0, 1 - after / HELD));
    return after >= HELD;
  }

  /**
   * @param {End} end how a connection has ended
   * @returns {boolean} whether to connect again
   */
  mayRetry(end) {
    return this.#policy !== null && !isVerdict(end, true) && this.attempt < this.#policy.maxAttempts;
  }

  /**
   * Begins the next try.
   * @param {number} min ms
   * @param {number} [max] ms, of what the policy says
   * @returns {number} ms to wait before it
   */
  next(min, max = Infinity) {
    const { initialDelay, maxDelay, multiplier, jitter } = this.#policy ?? { initialDelay: 100, maxDelay: 1000, multiplier: 2, jitter: 0.5 };
    const delay = Math.min(maxDelay, initialDelay * multiplier ** this.attempt);
    this.attempt++;
    return Math.max(min, Math.min(max, delay * (1 - jitter * this.#random())));
  }
}

/**
 * @param {number} status of HTTP, 0 for a certificate that is not trusted
 * @returns {boolean} whether another try may help
 */
export const isTemporary = status => status >= 500 || LATER.includes(status);

/**
 * @param {End} end
 * @param {boolean} knowsBus whether the address has led to a bus, or will: then what stands before it has no say
 * @returns {boolean} whether a bus has decided that this client is not to come back
 */
export function isVerdict({ code, failure, refusal }, knowsBus) {
  if (refusal) {
    // A certificate may be another one soon, and other addresses have others.
    return refusal.status !== 0 && !isTemporary(refusal.status) && (!knowsBus || refusal.isByBus);
  }
  if (code === 1006 || code === 1007) {
    // 1007 of this side: what the bus sent was malformed.
    return failure !== null && !failure.retryable;
  }
  return code === 1000 || code === 1002 || code === 1003 || code === 1009 || code >= 4500;
}

/**
 * @param {End} end
 * @param {string} url
 * @returns {EventBusError} what calls fail with for which this was the end
 */
export function failureOf({ code, reason, failure, welcomed }, url) {
  return failure ?? new EventBusError(
    welcomed ? 'CONNECTION_LOST' : 'NOT_CONNECTED', `the connection to ${url} ended with ${code}${reason === '' ? '' : ` ${reason}`}`);
}
