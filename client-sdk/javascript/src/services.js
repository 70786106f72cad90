import { CallTable } from './call/call-table.js';
import { checkCallBytes } from './call/options.js';
import { EventBus } from './client.js';
import { environment, pageOf } from './environment.js';
import { optionsOf, settings } from './options.js';

/** @import {Response} from './call/event.js' */
/** @import {Service} from './call/service.js' */
/** @import {Settings} from './options.js' */
/** @import {Environment} from './internal.js' */
/** @import {Address, Decoder, Encoder, Options, PayloadFor, RequestHandler, RequestOptions, ServeOptions} from './types.js' */

export { CallError, Rejection } from './call/errors.js';
export { CallEvent, Reply, Response } from './call/event.js';
export { Invocation } from './call/invocation.js';
export { Service } from './call/service.js';
export { BusEvent, EventBus, EventBusError, Subscription } from './index.js';
export * from './types.js';

/** A client of an event bus that also calls and serves services. Made by `connect`. */
export class ServiceBus extends EventBus {
  #calls;

  /**
   * Use `connect`.
   * @param {Settings} checked
   * @param {Environment} env
   * @param {number} callBytes
   * @internal
   */
  constructor(checked, env, callBytes) {
    const calls = new CallTable(callBytes);
    super(checked, env, calls);
    this.#calls = calls;
  }

  /**
   * Sends a request to a member of a service, which the bus chooses. Without `idempotent` a request is never executed twice. Without a connection it
   * waits, within its timeout and within `callBytes`.
   * @template {Encoder | undefined} [C=undefined]
   * @template [T=unknown] what `replyCodec` reads
   * @param {string} service a name like a topic, at most 240 bytes
   * @param {PayloadFor<C>} payload as of `publish`
   * @param {RequestOptions & {codec?: C, replyCodec?: Decoder<T>}} [options]
   * @returns {Promise<Response<T>>} rejects with a `CallError`, which says whether the request was executed, or with the signal's reason
   */
  request(service, payload, options = {}) {
    return /** @type {Promise<Response<T>>} */ (this.#calls.request(service, payload, options));
  }

  /**
   * Becomes a member of a service, over all connections, until it is closed.
   * @param {string} name like a topic, at most 240 bytes
   * @param {RequestHandler} handler answers requests: returns the payload of the reply, or a `Reply`, or a promise of one. An error that it throws
   *   fails the request: a `Rejection` reaches the caller as it is
   * @param {ServeOptions} [options]
   * @returns {Service} its `ready` resolves when the bus has confirmed it
   * @throws {import('./errors.js').EventBusError} ILLEGAL_TOPIC, CLOSED
   */
  serve(name, handler, options = {}) {
    return this.#calls.serve(name, handler, options);
  }
}

/**
 * Further options of `connect` of this module.
 * @typedef {object} CallOptions
 * @property {number} [callBytes] bytes of requests that are not sent, or may be sent again; default 16 MiB
 */

/**
 * Connects as `connect` of `eventbus-client` does, for a client that can call and serve services.
 *
 * @param {(Options & CallOptions) | Address} options an address, or more
 * @returns {Promise<ServiceBus>}
 * @throws {TypeError | RangeError} an option that is unknown or out of its range
 */
export async function connect(options) {
  const { callBytes, ...others } = /** @type {Options & CallOptions} */ (optionsOf(options));
  const bytes = checkCallBytes({ callBytes });
  const checked = settings(others, pageOf() !== null);
  others.signal?.throwIfAborted();
  return new ServiceBus(checked, await environment(others), bytes).start(others.signal);
}
