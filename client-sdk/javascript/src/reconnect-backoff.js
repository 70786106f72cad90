import { EventBusError } from './errors.js';

/** @import {End} from './bus-link.js' */
/** @import {Reconnect} from './types.js' */

/** Minimum life of a connection that counts as a success, in ms. */
const MIN_LIFE = 5000;
// Temporary HTTP statuses below 500.
const TEMPORARY = [408, 425, 429];

/** Counts the tries since a connection last succeeded, and decides whether and when to try again. */
export class ReconnectBackoff {
  #policy;
  #random;
  /** Number of the last try. */
  attempt = 0;
  /** Number of tries in a row without a `Welcome`. */
  unwelcome = 0;

  /**
   * @param {Required<Reconnect> | null} policy null for none
   * @param {() => number} random
   */
  constructor(policy, random) {
    this.#policy = policy;
    this.#random = random;
  }

  /** Counts the tries from the beginning again. */
  reset() {
    this.attempt = 0;
  }

  /**
   * Handles the end of a welcomed connection.
   * @param {number} after ms
   * @returns {boolean} whether it counts as a success
   */
  ended(after) {
    // The count shrinks with the life of the connection, so that a bus that closes at once is not overrun.
    this.attempt = Math.floor(this.attempt * Math.max(0, 1 - after / MIN_LIFE));
    return after >= MIN_LIFE;
  }

  /**
   * @param {End} end of the last connection
   * @returns {boolean} whether to connect again
   */
  mayRetry(end) {
    return this.#policy !== null && !isVerdict(end, true) && this.attempt < this.#policy.maxAttempts;
  }

  /**
   * Begins the next try.
   * @param {number} min ms
   * @param {number} [max] maximum of the policy's delay, in ms
   * @returns {number} the delay before it in ms
   */
  next(min, max = Infinity) {
    const { initialDelay, maxDelay, multiplier, jitter } = this.#policy ?? { initialDelay: 100, maxDelay: 1000, multiplier: 2, jitter: 0.5 };
    const delay = Math.min(maxDelay, initialDelay * multiplier ** this.attempt);
    this.attempt++;
    return Math.max(min, Math.min(max, delay * (1 - jitter * this.#random())));
  }
}

/**
 * @param {number} status of HTTP, 0 for an untrusted certificate
 * @returns {boolean} whether another try may help
 */
export const isTemporary = status => status >= 500 || TEMPORARY.includes(status);

/**
 * @param {End} end
 * @param {boolean} knowsBus whether the address is known to lead to a bus: then answers of a proxy before it decide nothing
 * @returns {boolean} whether a bus has refused this client for good
 */
export function isVerdict({ code, failure, refusal }, knowsBus) {
  if (refusal) {
    // Not for certificates, which may be replaced soon, and differ between addresses.
    return refusal.status !== 0 && !isTemporary(refusal.status) && (!knowsBus || refusal.isByBus);
  }
  if (code === 1006 || code === 1007) {
    // 1007 of this side: the bus has sent a malformed frame.
    return failure !== null && !failure.retryable;
  }
  return code === 1000 || code === 1002 || code === 1003 || code === 1009 || code >= 4500;
}

/**
 * @param {End} end
 * @param {string} url
 * @returns {EventBusError} the error of calls that end with the connection
 */
export function failureOf({ code, reason, failure, welcomed }, url) {
  return failure ?? new EventBusError(
    welcomed ? 'CONNECTION_LOST' : 'NOT_CONNECTED', `the connection to ${url} ended with ${code}${reason === '' ? '' : ` ${reason}`}`);
}
