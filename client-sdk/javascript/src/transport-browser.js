import { platformTransport } from './web-socket.js';

/** @import {Open} from './internal.js' */
/** @import {Options} from './types.js' */

/**
 * Selects the transport in browsers: bundlers take this module in place of transport.js.
 *
 * @param {Options} options
 * @returns {Promise<Open>} the transport
 */
export const transport = async ({ WebSocket: given }) => platformTransport(given);
