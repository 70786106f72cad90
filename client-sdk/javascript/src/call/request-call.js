import { encodeRequest } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import { CallError } from './errors.js';
import { Response } from './event.js';

/** @import {How} from './options.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Execution} from '../types.js' */
/** @import {Failure, Reply} from '../wire/call-frames.js' */

/**
 * WAITING for a connection, or for its turn there: no bus has it. SENT: a connection has taken it. PAUSING: it failed, and is sent again
 * after a pause. DONE: it has its outcome.
 * @typedef {'WAITING' | 'SENT' | 'PAUSING' | 'DONE'} RequestState
 */

/** @type {Record<RequestState, RequestState[]>} */
const TRANSITIONS = {
  WAITING: ['SENT', 'DONE'],
  // At once again when its connection is lost.
  SENT: ['WAITING', 'PAUSING', 'DONE'],
  PAUSING: ['WAITING', 'DONE'],
  DONE: [],
};
// What a request takes beside its bytes.
const OVERHEAD = 256;
const NOTHING = new Uint8Array(0);
// The texts of a bus about a call do not name its service. What a member says is left as it is.
const NOT_NAMED = new Set(['NO_MEMBER', 'TIMEOUT', 'CANCELLED', 'OVERLOADED', 'MEMBER_LOST']);

/** One request: waits, is sent, is perhaps sent again, and has its outcome. */
export class RequestCall {
  #how;
  /** @type {RequestState} */
  #state = 'WAITING';
  #event;
  #schema;
  #attempt = 0;
  #repetitions = 0;
  // Once a connection or a member with it was lost.
  #perhapsExecuted = false;
  /** @type {Channel | null} */
  #over = null;
  /** Bytes of the buffer. */
  cost;
  /** @type {unknown} */
  timer = null;
  /** Whether the bus had its time, too. */
  isLate = false;
  /** Forgets the signal. */
  forget = () => {};

  /**
   * @param {number} number
   * @param {How} how
   * @param {{bytes: Uint8Array, schema: bigint}} event
   * @param {number} deadline in ms
   * @param {{resolve: (response: Response) => void, reject: (error: unknown) => void}} outcome
   */
  constructor(number, how, { bytes, schema }, deadline, outcome) {
    this.number = number;
    this.#how = how;
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

  /** @returns {string} whom it asks */
  get service() {
    return this.#how.service;
  }

  /** @param {RequestState} next */
  become(next) {
    if (!TRANSITIONS[this.#state].includes(next)) {
      throw new Error(`call: ${this.#state} -> ${next} (not in the table)`);
    }
    this.#state = next;
  }

  /** @returns {number} bytes that its frame has at most */
  get size() {
    return this.#event.length + LIMIT.aroundCall;
  }

  /** @returns {boolean} whether its event may be needed again */
  get mayBeSentAgain() {
    return this.#how.idempotent || this.#how.retry.attempts > 1 || this.#how.retriesRefused;
  }

  /** It will not be sent again. */
  dropEvent() {
    this.#event = NOTHING;
  }

  /**
   * @param {Channel} channel that takes it
   * @param {number} left ms until its deadline, more than 0
   * @returns {Uint8Array[]} its frame
   */
  sending(channel, left) {
    const { service, method, priority, waitFor, idempotent, member } = this.#how;
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
   * @returns {boolean} whether an answer over it would be the answer
   */
  isSentOver(channel) {
    return this.#state === 'SENT' && this.#over === channel;
  }

  /** @returns {Channel | null} that has it */
  get over() {
    return this.#state === 'SENT' ? this.#over : null;
  }

  /** @returns {Execution} what is known while there is no answer */
  get executed() {
    return this.#state === 'SENT' || this.#perhapsExecuted ? 'UNKNOWN' : 'NO';
  }

  /**
   * @param {ConstructorParameters<typeof CallError>[0]} code
   * @param {string} message
   * @param {Execution} [executed]
   * @returns {CallError} what it ends with
   */
  error(code, message, executed = this.executed) {
    return new CallError(code, message, executed, { idempotent: this.#how.idempotent });
  }

  /**
   * @param {Reply} reply
   * @returns {Response}
   */
  response(reply) {
    return new Response(this.service, reply, this.#how.codec);
  }

  /**
   * Its connection is lost.
   * @param {number} now
   * @returns {boolean} whether it is sent again
   */
  lost(now) {
    if (!this.#how.idempotent || this.deadline <= now) {
      return false;
    }
    this.#attempt++;
    this.#perhapsExecuted = true;
    this.become('WAITING');
    return true;
  }

  /**
   * The bus or a member says that there is no reply.
   * @param {Failure} failure
   * @param {number} now
   * @param {number} random
   * @returns {number | CallError} ms after which it is sent again, or what it ends with
   */
  failed(failure, now, random) {
    // That it was not executed is true of this try only.
    const executed = failure.executed === 'NO' && this.#perhapsExecuted ? 'UNKNOWN' : failure.executed;
    const { idempotent, retry } = this.#how;
    const message = NOT_NAMED.has(failure.code) ? `${this.service}: ${failure.message}` : failure.message;
    const error = new CallError(failure.code, message, executed, { idempotent, failure });
    const mayHelp = error.retryable && error.code !== 'TIMEOUT' && error.code !== 'CANCELLED';
    const wasRefused = this.#how.retriesRefused && failure.executed === 'NO' && error.retryAfter > 0;
    if (mayHelp && (wasRefused || this.#repetitions + 1 < retry.attempts)) {
      const full = Math.min(retry.maxDelay, retry.initialDelay * retry.multiplier ** this.#repetitions);
      // The longer of both would bring all that were refused together back together.
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
