/** @import {Received} from './received.js' */
/** @import {ServiceRunner} from './service-runner.js' */
/** @import {Channel} from '../internal.js' */
/** @import {Welcome} from '../wire/frames.js' */

/**
 * A connection.
 *
 * @typedef {object} Line
 * @property {Welcome} welcome
 * @property {Uint8Array[][]} out frames that go out at the end of the turn
 * @property {Map<bigint, {received: Received, runner: ServiceRunner}>} open calls that it waits for an answer to
 */

// Bytes of a message, unless one frame has more.
const BATCH = 65_536;

/** The connections as calls see them: what goes over one of them and no other is collected here, one message for a turn of the event loop. */
export class Lines {
  /** @type {Map<Channel, Line>} */
  #lines = new Map();

  /**
   * @param {Channel} channel
   * @param {Welcome} welcome
   */
  opened(channel, welcome) {
    this.#lines.set(channel, { welcome, out: [], open: new Map() });
  }

  /** @param {Channel} channel */
  get(channel) {
    return this.#lines.get(channel);
  }

  /**
   * @param {Channel} channel that has ended
   * @returns {boolean} whether there was such a one
   */
  delete(channel) {
    return this.#lines.delete(channel);
  }

  /**
   * @param {Channel} channel
   * @param {Uint8Array[]} frame that is forgotten if the connection has ended
   */
  say(channel, frame) {
    const line = this.#lines.get(channel);
    if (line && line.out.push(frame) === 1) {
      queueMicrotask(() => this.flush(channel));
    }
  }

  /** @param {Channel} channel whose frames go out now */
  flush(channel) {
    const line = this.#lines.get(channel);
    const max = Math.min(BATCH, line?.welcome.limits.messageBytes ?? BATCH);
    /** @type {Uint8Array[]} */
    let message = [];
    let bytes = 0;
    for (const frame of line?.out.splice(0) ?? []) {
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
