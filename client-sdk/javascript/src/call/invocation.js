/** @import {CallEvent} from './event.js' */
/** @import {Invoke} from '../wire/call-frames.js' */

/** A request, as the member sees it that is to answer it. */
export class Invocation {
  #now;
  #deadline;
  #signal;

  /**
   * Made by the SDK.
   * @param {string} service
   * @param {CallEvent} event
   * @param {Invoke} invoke
   * @param {() => number} now in ms
   * @param {() => AbortSignal} signal
   * @internal
   */
  constructor(service, event, invoke, now, signal) {
    /**
     * The name of the service.
     * @readonly
     */
    this.service = service;
    /**
     * Event of the caller.
     * @readonly
     */
    this.event = event;
    /**
     * Method of the service; empty for none.
     * @readonly
     */
    this.method = invoke.method;
    /**
     * The caller's producer number.
     * @readonly
     */
    this.caller = invoke.caller;
    /**
     * Number of the request: with `caller` the same when it is sent again.
     * @readonly
     */
    this.request = invoke.request;
    /**
     * Number of earlier attempts of this request, by its caller or its bus; 0 for the first.
     * @readonly
     */
    this.attempt = invoke.attempt;
    /**
     * Authenticated name of the caller; empty without the option `identify`, or if the caller has none.
     * @readonly
     */
    this.identity = invoke.identity;
    /**
     * Time at which the caller's bus received the request, by its clock, in microseconds since 1970.
     * @readonly
     */
    this.receivedAt = invoke.receivedAt;
    this.#now = now;
    this.#deadline = now() + invoke.timeoutMillis;
    this.#signal = signal;
  }

  /** @returns {number} milliseconds that the caller still waits; 0 after that */
  get remaining() {
    return Math.max(0, this.#deadline - this.#now());
  }

  /**
   * Returns a signal that aborts when nobody waits for the answer any more: the caller has cancelled the request, or the service was closed. The
   * handler may stop; its place is free when it has returned.
   * @returns {AbortSignal}
   */
  get signal() {
    return this.#signal();
  }
}
