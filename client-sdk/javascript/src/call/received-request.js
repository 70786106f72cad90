import { CallEvent } from './event.js';
import { Invocation } from './invocation.js';

/** @import {ServeSettings} from './options.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Invoke} from '../wire/call-frames.js' */

/**
 * Connection and number of a call that waits for an answer.
 * @typedef {{channel: Channel, call: bigint}} Target
 */

// Bytes of memory that a request takes beside its event.
const OVERHEAD = 512;

/** A received request without an answer. */
export class ReceivedRequest {
  /** @type {AbortController | null} */
  #control = null;
  /** @type {Target[]} more than one if the request was sent again meanwhile */
  targets;
  #cancelledTargets = 0;
  isCancelled = false;

  /**
   * @param {string} service
   * @param {Invoke} invoke
   * @param {Channel} channel
   * @param {ServeSettings} settings
   * @param {() => number} now
   */
  constructor(service, invoke, channel, { codec }, now) {
    const { call, caller, request, schema, event } = invoke;
    /** Caller and request number. */
    this.key = `${caller} ${request}`;
    this.bytes = event.bytes.length + OVERHEAD;
    this.targets = [{ channel, call }];
    this.invocation = new Invocation(service, new CallEvent(event, { service, number: Number(request), schema, codec }), invoke, now, () => this.#signal());
  }

  #signal() {
    if (!this.#control) {
      this.#control = new AbortController();
      if (this.isCancelled) {
        this.#control.abort();
      }
    }
    return this.#control.signal;
  }

  /** @returns {boolean} whether nobody waits for the answer any more after this cancellation */
  cancelOne() {
    this.#cancelledTargets++;
    if (this.#cancelledTargets >= this.targets.length) {
      this.cancel();
    }
    return this.isCancelled;
  }

  /** Cancels the request for all who wait for the answer. */
  cancel() {
    this.isCancelled = true;
    this.#control?.abort();
  }
}
