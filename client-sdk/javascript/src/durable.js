import { Consumers } from './durable/consumers.js';
import { checkConsume, checkWorker } from './durable/options.js';
import { DurableSubscription } from './durable/subscription.js';
import { Worker } from './durable/worker.js';

/** @import {EventBus} from './client.js' */
/** @import {Listener} from './durable/consumer.js' */
/** @import {ConsumeSettings} from './durable/options.js' */
/** @import {DurableHome} from './internal.js' */
/** @import {ConsumeOptions, DurableHandler, WorkerOptions, WorkHandler} from './types.js' */

export { WorkDelivery } from './durable/delivery.js';
export { DurableSubscription, Worker };
export * from './types.js';

/**
 * Consumes stored events under a name: the bus remembers what is handled, and the next consumer of the name goes on there. An event is handled when
 * the handler returns, or when the reader asks for the next one. After a failure of the handler the same event comes again, after 1 s, 5 s, 30 s, and
 * then every 2 min. Events that were handled shortly before a client ended without `unsubscribe` or `close` come again. Of several consumers of one
 * name, in any client, one gets the events; the others stand by.
 *
 * @template [T=unknown] what the codec reads
 * @param {EventBus} bus
 * @param {string} name unique in the journal
 * @param {ConsumeOptions<T> | DurableHandler<T>} [given] options, or the handler
 * @param {DurableHandler<T>} [handler] gets the events one by one; without one they are read with `for await`
 * @returns {DurableSubscription<T>} its `ready` resolves when the bus has accepted it
 * @throws {import('./errors.js').EventBusError} ILLEGAL_TOPIC, CLOSED
 */
export const durable = (bus, name, given, handler) => consume(bus, name, {}, given, handler);

/**
 * Consumes stored events without a name: begins where `from` says, and goes on with what is stored later. The bus remembers nothing.
 *
 * @template [T=unknown] what the codec reads
 * @param {EventBus} bus
 * @param {ConsumeOptions<T> | DurableHandler<T>} [given] options, or the handler
 * @param {DurableHandler<T>} [handler] as of `durable`
 * @returns {DurableSubscription<T>}
 * @throws {import('./errors.js').EventBusError} ILLEGAL_TOPIC, CLOSED
 */
export const replay = (bus, given, handler) => consume(bus, null, {}, given, handler);

/**
 * Consumes the latest value of each topic, and then every change: only of a journal that keeps no more than the latest values.
 *
 * @template [T=unknown] what the codec reads
 * @param {EventBus} bus
 * @param {string} filter
 * @param {Omit<ConsumeOptions<T>, 'filter' | 'from'> | DurableHandler<T>} [given] options, or the handler
 * @param {DurableHandler<T>} [handler] as of `durable`
 * @returns {DurableSubscription<T>}
 * @throws {import('./errors.js').EventBusError} ILLEGAL_TOPIC, CLOSED
 */
export const latest = (bus, filter, given, handler) => consume(bus, null, { filter, from: 'LATEST_VALUES' }, given, handler);

/**
 * Works on the events of a shared durable subscription: each event goes to one of the consumers of the name, in any client, which settles it. It is done
 * when the handler returns. After a failure of the handler it comes again to some consumer, after a pause of the bus, and is a dead letter after
 * `maxAttempts` deliveries. `delivery` settles otherwise. Events come at least once, and in no order.
 *
 * Without a handler `for await (const { event, delivery } of worker)` reads them, and nothing is settled by itself.
 *
 * @template [T=unknown] what the codec reads
 * @param {EventBus} bus
 * @param {string} name unique in the journal
 * @param {WorkerOptions<T> | WorkHandler<T>} [given] options, or the handler
 * @param {WorkHandler<T>} [handler] gets the events, `concurrency` at a time
 * @returns {Worker<T>} its `ready` resolves when the bus has accepted it
 * @throws {import('./errors.js').EventBusError} ILLEGAL_TOPIC, CLOSED
 */
export function worker(bus, name, given, handler) {
  const [options, taker] = split(given, handler);
  const settings = checkWorker(name, /** @type {WorkerOptions} */ (options));
  return /** @type {Worker<T>} */ (/** @type {unknown} */ (
    begin(bus, settings, taker, (id, home, listener) => new Worker(id, settings, /** @type {WorkHandler | undefined} */ (taker), home, listener))));
}

/**
 * @template T
 * @param {EventBus} bus
 * @param {string | null} name
 * @param {{filter?: string, from?: 'LATEST_VALUES'}} fixed options
 * @param {ConsumeOptions<T> | DurableHandler<T> | undefined} given
 * @param {DurableHandler<T> | undefined} taker
 * @returns {DurableSubscription<T>}
 */
function consume(bus, name, fixed, given, taker) {
  const [options, handler] = split(given, taker);
  const settings = checkConsume(name, /** @type {ConsumeOptions} */ (options), fixed);
  return /** @type {DurableSubscription<T>} */ (/** @type {unknown} */ (
    begin(bus, settings, handler, (id, home, listener) => new DurableSubscription(id, settings, /** @type {DurableHandler | undefined} */ (handler), home, listener))));
}

/**
 * @template O, H
 * @param {O | H | undefined} given options, or the handler
 * @param {H | undefined} taker
 * @returns {[O, H | undefined]} options and handler
 */
const split = (given, taker) => /** @type {[O, H | undefined]} */ (typeof given === 'function' && taker === undefined ? [{}, given] : [given === undefined ? {} : given, taker]);

/**
 * @template {DurableSubscription | Worker} C
 * @param {EventBus} bus
 * @param {ConsumeSettings} settings
 * @param {unknown} handler
 * @param {(id: number, home: DurableHome, listener: Listener) => C} make returns the consumer
 * @returns {C}
 */
function begin(bus, settings, handler, make) {
  if (typeof bus?.durables !== 'function') {
    throw new TypeError(`bus: ${bus === null ? 'null' : typeof bus} (expected: a client, as connect returns it)`);
  }
  return bus.durables(home => new Consumers(home)).begin(settings, handler, make);
}
