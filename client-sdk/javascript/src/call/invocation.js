/** @import {CallEvent} from './event.js' */
/** @import {Invoke} from '../wire/call-frames.js' */

/** A request as the member that is to answer it sees it. */
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
     * What the caller sends.
     * @readonly
     */
    this.event = event;
    /**
     * What the service is to do; empty for none.
     * @readonly
     */
    this.method = invoke.method;
    /**
     * The caller's producer number.
     * @readonly
     */
    this.caller = invoke.caller;
    /**
     * Which of the caller's requests this is: with `caller` the same when it comes again.
     * @readonly
     */
    this.request = invoke.request;
    /**
     * How often it was sent or given to a member before; 0 for the first time.
     * @readonly
     */
    this.attempt = invoke.attempt;
    /**
     * The name that the caller has proved to its bus; empty without the option `identify`, or if it has none.
     * @readonly
     */
    this.identity = invoke.identity;
    /**
     * When the caller's bus got it, by its clock: microseconds since 1970.
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
   * Is aborted when nobody waits for the answer any more: the caller has cancelled the request, or the service was closed. The handler may
   * stop; its place is free when it has returned.
   * @returns {AbortSignal}
   */
  get signal() {
    return this.#signal();
  }
}
