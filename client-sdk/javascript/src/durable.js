import { Consumers } from './durable/consumers.js';
import { checkConsume } from './durable/options.js';

/** @import {EventBus} from './client.js' */
/** @import {DurableSubscription} from './durable/subscription.js' */
/** @import {ConsumeOptions, DurableHandler} from './types.js' */

export { DurableSubscription } from './durable/subscription.js';
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
export const durable = (bus, name, given, handler) => begin(bus, name, {}, given, handler);

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
export const replay = (bus, given, handler) => begin(bus, null, {}, given, handler);

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
export const latest = (bus, filter, given, handler) => begin(bus, null, { filter, from: 'LATEST_VALUES' }, given, handler);

/**
 * @template T
 * @param {EventBus} bus
 * @param {string | null} name
 * @param {{filter?: string, from?: 'LATEST_VALUES'}} fixed options
 * @param {ConsumeOptions<T> | DurableHandler<T> | undefined} given
 * @param {DurableHandler<T> | undefined} taker
 * @returns {DurableSubscription<T>}
 */
function begin(bus, name, fixed, given = {}, taker) {
  if (typeof bus?.durables !== 'function') {
    throw new TypeError(`bus: ${bus === null ? 'null' : typeof bus} (expected: a client, as connect returns it)`);
  }
  const [options, handler] = typeof given === 'function' && taker === undefined ? [{}, given] : [/** @type {ConsumeOptions<T>} */ (given), taker];
  const settings = checkConsume(name, options, fixed);
  const consumers = bus.durables(home => new Consumers(home));
  return /** @type {DurableSubscription<T>} */ (/** @type {unknown} */ (consumers.begin(settings, /** @type {DurableHandler | undefined} */ (handler))));
}
