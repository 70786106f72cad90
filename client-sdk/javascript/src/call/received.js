import { CallEvent } from './event.js';
import { Invocation } from './invocation.js';

/** @import {Serving} from './options.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Invoke} from '../wire/call-frames.js' */

/**
 * Where an answer has to go.
 * @typedef {{channel: Channel, call: bigint}} Target
 */

// What a request takes beside its bytes.
const OVERHEAD = 512;

/** A request that is to be answered. */
export class Received {
  /** @type {AbortController | null} */
  #control = null;
  /** @type {Target[]} more than one if the request has come again meanwhile */
  targets;
  #cancelledTargets = 0;
  isCancelled = false;

  /**
   * @param {string} service
   * @param {Invoke} invoke
   * @param {Channel} channel
   * @param {Serving} serving
   * @param {() => number} now
   */
  constructor(service, invoke, channel, { codec }, now) {
    const { call, caller, request, schema, event } = invoke;
    /** Which request of whom. */
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

  /** @returns {boolean} whether nobody waits for the answer any more, since one has gone */
  cancelOne() {
    this.#cancelledTargets++;
    if (this.#cancelledTargets >= this.targets.length) {
      this.cancel();
    }
    return this.isCancelled;
  }

  /** Nobody waits for the answer. */
  cancel() {
    this.isCancelled = true;
    this.#control?.abort();
  }
}
