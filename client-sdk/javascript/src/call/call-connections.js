/** @import {ReceivedRequest} from './received-request.js' */
/** @import {ServiceRunner} from './service-runner.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Welcome} from '../wire/frames.js' */

/**
 * State of one connection.
 *
 * @typedef {object} CallConnection
 * @property {Welcome} welcome
 * @property {Uint8Array[][]} out frames that are sent at the end of the turn
 * @property {Map<bigint, {received: ReceivedRequest, runner: ServiceRunner}>} open calls of this connection that wait for an answer
 */

// Maximum bytes of a message, unless one frame alone has more.
const BATCH = 65_536;

/** The connections as calls see them: collects the frames that belong to one of them, into one message for each turn of the event loop. */
export class CallConnections {
  /** @type {Map<Channel, CallConnection>} */
  #connections = new Map();

  /**
   * @param {Channel} channel
   * @param {Welcome} welcome
   */
  opened(channel, welcome) {
    this.#connections.set(channel, { welcome, out: [], open: new Map() });
  }

  /** @param {Channel} channel */
  get(channel) {
    return this.#connections.get(channel);
  }

  /**
   * @param {Channel} channel a closed connection
   * @returns {boolean} whether it was known
   */
  delete(channel) {
    return this.#connections.delete(channel);
  }

  /**
   * @param {Channel} channel
   * @param {Uint8Array[]} frame dropped if the connection has ended
   */
  send(channel, frame) {
    const connection = this.#connections.get(channel);
    if (connection && connection.out.push(frame) === 1) {
      queueMicrotask(() => this.flush(channel));
    }
  }

  /** @param {Channel} channel whose frames are sent now */
  flush(channel) {
    const connection = this.#connections.get(channel);
    const max = Math.min(BATCH, connection?.welcome.limits.messageBytes ?? BATCH);
    /** @type {Uint8Array[]} */
    let message = [];
    let bytes = 0;
    for (const frame of connection?.out.splice(0) ?? []) {
      const size = frame.reduce((sum, part) => sum + part.length, 0);
      if (bytes > 0 && bytes + size > max) {
        channel.send(message);
        message = [];
        bytes = 0;
      }
      message.push(...frame);
      bytes += size;
    }
    if (bytes > 0) {
      channel.send(message);
    }
  }
}
