import { encodeRequest } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import { CallError } from './errors.js';
import { Response } from './event.js';

/** @import {RequestSettings} from './options.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Execution} from '../types.js' */
/** @import {Failure, Reply} from '../wire/call-frames.js' */

/**
 * State of a request. WAITING: no bus has it, it waits for a connection or for its turn. SENT: written to a connection. PAUSING: failed, and sent
 * again after a pause. DONE: has its outcome.
 * @typedef {'WAITING' | 'SENT' | 'PAUSING' | 'DONE'} RequestState
 */

/** @type {Record<RequestState, RequestState[]>} */
const TRANSITIONS = {
  WAITING: ['SENT', 'DONE'],
  // WAITING: sent again at once when its connection is lost.
  SENT: ['WAITING', 'PAUSING', 'DONE'],
  PAUSING: ['WAITING', 'DONE'],
  DONE: [],
};
// Bytes of memory that a request takes beside its event.
const OVERHEAD = 256;
const NOTHING = new Uint8Array(0);
// Failures whose message, from the bus, does not name the service. Messages of members are left as they are.
const NOT_NAMED = new Set(['NO_MEMBER', 'TIMEOUT', 'CANCELLED', 'OVERLOADED', 'MEMBER_LOST']);

/** A request of this client: waits, is sent, is perhaps sent again, and has its outcome. */
export class RequestCall {
  #settings;
  /** @type {RequestState} */
  #state = 'WAITING';
  #event;
  #schema;
  #attempt = 0;
  #repetitions = 0;
  // Set once a connection or a member that had the request was lost.
  #perhapsExecuted = false;
  /** @type {Channel | null} */
  #over = null;
  /** Bytes in the request buffer. */
  cost;
  /** @type {unknown} */
  timer = null;
  /** Set once the bus has had its additional time, too. */
  isLate = false;
  /** Removes the listener of the signal. */
  forget = () => {};

  /**
   * @param {number} number
   * @param {RequestSettings} settings
   * @param {{bytes: Uint8Array, schema: bigint}} event
   * @param {number} deadline in ms
   * @param {{resolve: (response: Response) => void, reject: (error: unknown) => void}} outcome
   */
  constructor(number, settings, { bytes, schema }, deadline, outcome) {
    this.number = number;
    this.#settings = settings;
    this.#event = bytes;
    this.#schema = schema;
    this.deadline = deadline;
    this.outcome = outcome;
    this.cost = RequestCall.costOf(bytes);
  }

  /** @param {Uint8Array} bytes of its event */
  static costOf(bytes) {
    return bytes.length + OVERHEAD;
  }

  /** @returns {RequestState} */
  get state() {
    return this.#state;
  }

  /** @returns {string} the service that it is for */
  get service() {
    return this.#settings.service;
  }

  /** @param {RequestState} next */
  become(next) {
    if (!TRANSITIONS[this.#state].includes(next)) {
      throw new Error(`call: ${this.#state} -> ${next} (not in the table)`);
    }
    this.#state = next;
  }

  /** @returns {number} the maximum size of its frame in bytes */
  get size() {
    return this.#event.length + LIMIT.aroundCall;
  }

  /** @returns {boolean} whether its event must be kept for another try */
  get mayBeSentAgain() {
    return this.#settings.idempotent || this.#settings.retry.attempts > 1 || this.#settings.retriesRefused;
  }

  /** Forgets the event, because the request will not be sent again. */
  dropEvent() {
    this.#event = NOTHING;
  }

  /**
   * @param {Channel} channel that it is sent over
   * @param {number} left ms until its deadline, more than 0
   * @returns {Uint8Array[]} its frame
   */
  sending(channel, left) {
    const { service, method, priority, waitFor, idempotent, member } = this.#settings;
    const timeoutMillis = Math.max(1, Math.floor(left));
    this.become('SENT');
    this.#over = channel;
    return encodeRequest({
      call: this.number, service, method, priority, timeoutMillis, waitMillis: Math.min(Math.floor(waitFor), timeoutMillis), idempotent,
      attempt: this.#attempt, member, schema: this.#schema,
    }, this.#event);
  }

  /**
   * @param {Channel} channel
   * @returns {boolean} whether it was sent over this connection
   */
  isSentOver(channel) {
    return this.#state === 'SENT' && this.#over === channel;
  }

  /** @returns {Channel | null} that it was sent over; null where none has it */
  get over() {
    return this.#state === 'SENT' ? this.#over : null;
  }

  /** @returns {Execution} whether a member may have begun with it, while there is no answer */
  get executed() {
    return this.#state === 'SENT' || this.#perhapsExecuted ? 'UNKNOWN' : 'NO';
  }

  /**
   * @param {ConstructorParameters<typeof CallError>[0]} code
   * @param {string} message
   * @param {Execution} [executed]
   * @returns {CallError} the error that it fails with
   */
  error(code, message, executed = this.executed) {
    return new CallError(code, message, executed, { idempotent: this.#settings.idempotent });
  }

  /**
   * @param {Reply} reply
   * @returns {Response}
   */
  response(reply) {
    return new Response(this.service, reply, this.#settings.codec);
  }

  /**
   * Handles the loss of its connection.
   * @param {number} now
   * @returns {boolean} whether it is to be sent again
   */
  lost(now) {
    if (!this.#settings.idempotent || this.deadline <= now) {
      return false;
    }
    this.#attempt++;
    this.#perhapsExecuted = true;
    this.become('WAITING');
    return true;
  }

  /**
   * Handles a failure that the bus or a member has reported.
   * @param {Failure} failure
   * @param {number} now
   * @param {number} random
   * @returns {number | CallError} ms after which it is sent again, or the error that it fails with
   */
  failed(failure, now, random) {
    // NO speaks only of this try: an earlier one may have been executed.
    const executed = failure.executed === 'NO' && this.#perhapsExecuted ? 'UNKNOWN' : failure.executed;
    const { idempotent, retry } = this.#settings;
    const message = NOT_NAMED.has(failure.code) ? `${this.service}: ${failure.message}` : failure.message;
    const error = new CallError(failure.code, message, executed, { idempotent, failure });
    const mayHelp = error.retryable && error.code !== 'TIMEOUT' && error.code !== 'CANCELLED';
    const wasRefused = this.#settings.retriesRefused && failure.executed === 'NO' && error.retryAfter > 0;
    if (mayHelp && (wasRefused || this.#repetitions + 1 < retry.attempts)) {
      const full = Math.min(retry.maxDelay, retry.initialDelay * retry.multiplier ** this.#repetitions);
      // A sum, because the longer of both would bring all requests that were refused together back together.
      const delay = error.retryAfter + full * (1 - retry.jitter * random);
      if (this.deadline - now > delay) {
        this.#repetitions++;
        this.#attempt++;
        this.#perhapsExecuted ||= executed !== 'NO';
        this.become('PAUSING');
        return delay;
      }
    }
    return error;
  }
}
