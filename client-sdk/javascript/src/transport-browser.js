import { platformTransport } from './web-socket.js';

/** @import {Open} from './internal.js' */
/** @import {Options} from './types.js' */

/**
 * What bundlers for browsers take in place of transport.js.
 *
 * @param {Options} options
 * @returns {Promise<Open>} the transport
 */
export const transport = async ({ WebSocket: given }) => platformTransport(given);
