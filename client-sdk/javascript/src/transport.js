import { platformTransport } from './web-socket.js';

/** @import {Open} from './internal.js' */
/** @import {Options} from './types.js' */

/**
 * Selects the transport. Bundlers for browsers take transport-browser.js in its place, as package.json says, so that a page gets nothing of Node's.
 *
 * @param {Options} options
 * @returns {Promise<Open>} the transport: in Node the SDK's own socket, elsewhere the platform's
 */
export async function transport({ WebSocket: given }) {
  const { process, Deno, Bun } = /** @type {import('./environment.js').Platform} */ (/** @type {unknown} */ (globalThis));
  if (!given && process?.versions?.node && !Deno && !Bun) {
    return (await import('./node-socket.js')).open;
  }
  return platformTransport(given);
}
