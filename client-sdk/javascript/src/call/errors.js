import { EventBusError } from '../errors.js';
import { checkText, refuseUnknown } from '../options.js';
import * as LIMIT from '../wire/limit.js';

/** @import {CallCode, ErrorCode, Execution, FailureCode} from '../types.js' */
/** @import {Failure} from '../wire/call-frames.js' */

const CODES = ['REFUSED', 'UNKNOWN_METHOD', 'FAILED'];
const MAX_DELAY = 86_400_000;
/** Codes after which another try would end in the same way, or would be executed as another request. */
const FINAL = new Set(['FORBIDDEN', 'TOO_BIG', 'UNSUPPORTED', 'UNKNOWN_METHOD', 'CLOSED', 'ILLEGAL_TOPIC', 'UNREADABLE_PAYLOAD']);

/**
 * Failure of a request. {@link CallError#executed} says whether a member has begun with it.
 *
 * | code | meaning |
 * |---|---|
 * | `NO_MEMBER` | no member serves the service, or not the one that the request names |
 * | `TIMEOUT` | the request's timeout has passed |
 * | `OVERLOADED` | more requests wait than the client, the bus or the member lets wait |
 * | `MEMBER_LOST` | the member's connection ended before it answered |
 * | `BUS_LOST` | this client's connection ended after the request was sent |
 * | `REFUSED`, `UNKNOWN_METHOD` | the member rejects the request, or has no such method |
 * | `FAILED` | the member has tried and failed; `type` and `details` are its own |
 * | `FORBIDDEN`, `TOO_BIG`, `UNSUPPORTED`, `INTERNAL` | the bus refuses the request |
 * | `CANCELLED` | the client was closed |
 * | `ILLEGAL_TOPIC`, `UNREADABLE_PAYLOAD`, `CLOSED` | as for events; nothing was sent |
 */
export class CallError extends EventBusError {
  /**
   * Made by the SDK.
   * @param {CallCode | ErrorCode} code
   * @param {string} message
   * @param {Execution} executed
   * @param {{idempotent?: boolean, cause?: unknown, failure?: Failure}} [details]
   * @internal
   */
  constructor(code, message, executed, { idempotent = false, cause, failure } = {}) {
    super(code, message, { cause, retryable: !FINAL.has(code) && (executed === 'NO' || (executed === 'UNKNOWN' && idempotent)) });
    /**
     * Tells whether a member has begun with the request: `NO` (may be sent again), `YES`, or `UNKNOWN` (may be sent again if idempotent).
     * @readonly
     */
    this.executed = executed;
    /**
     * Milliseconds after which another try may be worth it; 0 for no advice.
     * @readonly
     */
    this.retryAfter = failure?.retryAfter ?? 0;
    /**
     * Number of the member that reported the failure or had the request; 0n for none.
     * @readonly
     */
    this.member = failure?.member ?? 0n;
    /**
     * The member's own name for what went wrong.
     * @readonly
     */
    this.type = failure?.type ?? '';
    /**
     * Further details, in the member's own format.
     * @readonly
     */
    this.details = failure?.details ?? new Uint8Array(0);
  }
}

Object.defineProperty(CallError.prototype, 'name', { value: 'CallError' });

/**
 * An error that a handler of a service throws to fail a request: the caller sees it as it is. Of any other error the caller sees the name of its
 * class.
 */
export class Rejection extends Error {
  /**
   * @param {'REFUSED' | 'UNKNOWN_METHOD' | 'FAILED'} code `REFUSED`: the member does not take the request now and has not begun with it, so that the
   *   bus may ask another member; `UNKNOWN_METHOD`; `FAILED`: the member has tried
   * @param {string} message in English, for people; the first 1,024 bytes are sent
   * @param {{type?: string, details?: Uint8Array, retryAfter?: number}} [more] type: a name of at most 255 bytes; details: at most 64 KiB;
   *   retryAfter: ms after which another try may be worth it
   */
  constructor(code, message, more = {}) {
    super(message);
    refuseUnknown(more, ['type', 'details', 'retryAfter'], 'more.');
    const { type = '', details = new Uint8Array(0), retryAfter = 0 } = more;
    if (!CODES.includes(code)) {
      throw new TypeError(`code: ${String(code)} (expected: ${CODES.join(', ')})`);
    }
    const isBytes = details instanceof Uint8Array;
    if (!isBytes || details.length > LIMIT.failureDetailsBytes) {
      const text = `details: ${isBytes ? `${details.length} bytes` : typeof details} (expected: a Uint8Array of at most ${LIMIT.failureDetailsBytes} bytes)`;
      throw isBytes ? new RangeError(text) : new TypeError(text);
    }
    if (!(retryAfter >= 0 && retryAfter <= MAX_DELAY)) {
      throw new RangeError(`retryAfter: ${retryAfter} (expected: 0..${MAX_DELAY} ms)`);
    }
    checkText('type', type, LIMIT.nameBytes);
    /** @readonly */
    this.code = code;
    /** @readonly */
    this.type = type;
    /** @readonly */
    this.details = details;
    /** @readonly */
    this.retryAfter = retryAfter;
  }
}

Object.defineProperty(Rejection.prototype, 'name', { value: 'Rejection' });

/**
 * Returns a failure that the SDK answers with in place of a handler.
 * @param {FailureCode} code
 * @param {string} message
 * @param {Execution} executed
 * @returns {Omit<Failure, 'member'>}
 */
export const failure = (code, message, executed) => ({ code, message, executed, retryAfter: 0, type: '', details: new Uint8Array(0) });

/**
 * @param {unknown} thrown by a handler; its message may hold secrets and is not sent
 */
export const unexpected = thrown => failure('FAILED', `the member's handler failed with ${thrown instanceof Error ? thrown.constructor.name : typeof thrown}`, 'YES');
