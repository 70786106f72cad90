/** @import {CallCode, ErrorCode, ErrorDetails} from './types.js' */

/**
 * Failure of an operation of the event bus. Programs test {@link EventBusError#code} and
 * {@link EventBusError#retryable}, people read the message. Arguments of a wrong type or range are a `TypeError` or a `RangeError`.
 *
 * | code | meaning | retry? |
 * |---|---|---|
 * | `ILLEGAL_TOPIC` | a topic or filter breaks the rules; nothing was sent | no |
 * | `TOO_BIG` | an event is over a limit of the bus; nothing was sent | no |
 * | `BUFFER_FULL` | the outbound buffer is full; nothing was sent | after a pause |
 * | `NOT_CONNECTED` | no connection could be made; nothing was sent | after a pause |
 * | `NO_TOKEN` | the token function failed, or returned no legal token; an existing connection stays, and the function is called again later | after
 * a pause |
 * | `CONNECTION_LOST` | the events may or may not have been delivered | may deliver twice |
 * | `REFUSED` | the bus refused it, {@link EventBusError#busCode} says why | as `retryable` says |
 * | `TIMED_OUT` | a deadline passed; an event may or may not have been delivered, or was withdrawn, as the message says | after a pause; may deliver it twice unless it was withdrawn |
 * | `CLOSED` | the client or the subscription has ended; the cause says why | no |
 * | `SLOW_CONSUMER` | a subscription does not take its events in time; told by `problem` | |
 * | `TRUNCATED` | a consumer of durable topics does not get events that were stored; reported where nobody listens to `truncated` | |
 * | `UNREADABLE_PAYLOAD` | bytes that are not what the codec expects, or a value that it cannot encode | no |
 */
export class EventBusError extends Error {
  /**
   * @param {ErrorCode | CallCode} code what kind of failure; a `CallCode` only of requests to services
   * @param {string} message found value, place, and expectation
   * @param {ErrorDetails} [details] what else is known
   */
  constructor(code, message, details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    /**
     * Kind of failure.
     * @readonly
     */
    this.code = code;
    /**
     * Tells whether the same call may succeed later.
     * @readonly
     */
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    /**
     * Code from the bus; undefined where no bus has answered.
     * @readonly
     */
    this.busCode = details.busCode;
  }
}

// On the prototype, as the name of the language's own errors.
Object.defineProperty(EventBusError.prototype, 'name', { value: 'EventBusError' });

const RETRYABLE = new Set(['BUFFER_FULL', 'NOT_CONNECTED', 'NO_TOKEN', 'CONNECTION_LOST', 'TIMED_OUT']);

/** Bytes from the bus that are no legal frame. Their connection is closed with 1007. */
export class Malformed extends Error {}

/**
 * @param {unknown} thrown anything
 * @returns {string} its message
 */
export function textOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
