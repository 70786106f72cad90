import { EventBus } from './client.js';
import { environment, pageOf } from './environment.js';
import { optionsOf, settings } from './options.js';

/** @import {Address, Options} from './types.js' */

export { EventBus } from './client.js';
export { EventBusError } from './errors.js';
export { BusEvent } from './event.js';
export { Subscription } from './subscription.js';
export * from './types.js';

/**
 * Connects to a bus, and stays connected until the client is closed.
 *
 * @param {Options | Address} options an address, or more
 * @returns {Promise<EventBus>} resolves when a bus has welcomed the client. Rejects after `connectTimeout`, or after three tries that opened no
 *   connection, with NOT_CONNECTED, NO_TOKEN or TIMED_OUT; with REFUSED where another try would be refused again; with the signal's reason
 * @throws {TypeError | RangeError} an option that is unknown or out of its range
 */
export async function connect(options) {
  const checked = settings(options, pageOf() !== null);
  const all = optionsOf(options);
  all.signal?.throwIfAborted();
  return new EventBus(checked, await environment(all)).start(all.signal);
}
