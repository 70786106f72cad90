import { Reader } from './wire/reader.js';
import * as TYPE from './wire/type.js';
import * as LIMIT from './wire/limit.js';
import { longBytes, Writer } from './wire/writer.js';

/** @import {Published} from './types.js' */
/** @import {Confirm} from './wire/frames.js' */

/**
 * Callbacks of a call that waits for the confirmation of an event.
 *
 * @typedef {object} Waiter
 * @property {(published: Published) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/**
 * A topic that this client publishes to.
 *
 * @typedef {object} OutTopic
 * @property {string} name
 * @property {Uint8Array} head its bytes, with their length before them
 * @property {number} next sequence of the next event
 * @property {PublishFrame | null} open the frame being filled
 * @property {PublishFrame[]} sent frames that the bus has to confirm, in the order of their numbers
 */

// Maximum bytes before the events, beside the topic: type code, length of the body, sequence, schema, confirm, number of events, their size.
const HEAD_ROOM = 1 + 5 + 10 + 10 + 1 + 5 + 5;
const scratch = new Writer(1024);
const NOTHING = new Uint8Array(0);

/** A `Publish` frame: filled, sealed, sent and, on request, confirmed. Its events are encoded only once. */
export class PublishFrame {
  /** Number of events. */
  count = 0;
  /** Time at which its first event was published, in ms. */
  born = 0;
  /** Bytes in the outbound buffer. */
  cost = 0;
  /** Number of events without a waiter that have arrived when this frame is confirmed. */
  plainUpTo = 0;
  /** Set where it is confirmed though no call waits for it. */
  isMarker = false;
  isSent = false;
  /**
   * What its only event asks of a durable topic: the last fields of the frame.
   * @type {Uint8Array | null}
   */
  tail = null;
  isSettled = false;
  #from;
  #writer;

  /**
   * @param {OutTopic} topic
   * @param {number} first sequence of its first event
   * @param {bigint} schema of all payloads
   * @param {(Waiter | null)[] | null} waiters null where no call waits for its events
   * @param {number} capacity bytes to begin with
   */
  constructor(topic, first, schema, waiters, capacity) {
    this.topic = topic;
    this.first = first;
    this.schema = schema;
    this.waiters = waiters;
    this.#from = HEAD_ROOM + topic.head.length;
    this.#writer = new Writer(this.#from + capacity);
    this.#writer.at = this.#from;
  }

  /** @returns {number} sequence of its last event */
  get last() {
    return this.first + this.count - 1;
  }

  /** @returns {Writer} writer for the next event; `added` has to follow */
  get writer() {
    return this.#writer;
  }

  /** @returns {number} bytes of its events */
  get size() {
    return this.#writer.at - this.#from;
  }

  /** @returns {boolean} whether it has no room for events */
  get isFull() {
    return this.count >= LIMIT.publishEvents;
  }

  /** @returns {Uint8Array} the frame, which is not changed afterwards */
  bytes() {
    const w = this.#writer;
    const { size } = this;
    const tail = this.tail ?? NOTHING;
    if (w.bytes.length > 2 * (this.#from + size) + 64) {
      // Trimmed, because it may be kept for a while.
      w.bytes = w.bytes.slice(0, w.at + 1 + tail.length);
    }
    scratch.at = 0;
    scratch.raw(this.topic.head);
    scratch.long(this.first);
    scratch.bigint64(this.schema);
    scratch.boolean(this.waiters !== null || this.isMarker);
    scratch.long(-this.count);
    scratch.long(size);
    const head = scratch.bytes.slice(0, scratch.at);
    // Plus the byte that ends the array.
    const body = head.length + size + 1 + tail.length;
    scratch.at = 0;
    scratch.long(TYPE.PUBLISH);
    scratch.long(body);
    const start = this.#from - head.length - scratch.at;
    const end = w.at;
    w.reserve(1 + tail.length);
    w.bytes[end] = 0;
    w.bytes.set(tail, end + 1);
    w.bytes.set(scratch.bytes.subarray(0, scratch.at), start);
    w.bytes.set(head, this.#from - head.length);
    return w.bytes.subarray(start, end + 1 + tail.length);
  }

  /**
   * Resolves all waiters.
   * @param {bigint} producer
   * @param {Confirm | null} confirm null if a later frame was confirmed, and this one with it
   */
  resolve(producer, confirm) {
    const { receivers, position, repeated } = confirm ?? { receivers: -1, position: 0, repeated: false };
    this.waiters?.forEach((waiter, i) => {
      const behind = this.count - 1 - i;
      waiter?.resolve({
        topic: this.topic.name, producer, sequence: this.first + i, receivers: receivers < 0 ? undefined : receivers, repeated,
        // Of a frame that was stored before, or a part of it, only the last position is known.
        position: position === 0 || (repeated && behind > 0) ? 0 : position - behind,
      });
    });
    this.waiters?.fill(null);
  }

  /** @param {unknown} error */
  reject(error) {
    this.waiters?.forEach(waiter => waiter?.reject(error));
    this.waiters?.fill(null);
  }

  /**
   * Returns its events one by one, for a bus with smaller limits than the one they were encoded for.
   * @returns {{bytes: Uint8Array, payload: number, headers: number, headerBytes: number}[]} bytes and sizes of each
   */
  events() {
    const reader = new Reader().wrap(this.#writer.bytes, this.#from, this.#writer.at);
    return Array.from({ length: this.count }, () => {
      const start = reader.at;
      reader.skipLong('publishedAt');
      if (reader.present('key')) {
        reader.skipString('key');
      }
      let headers = 0;
      let headerBytes = 0;
      reader.blocks('headers', 2, count => {
        headers += count;
        for (let i = 0; i < 2 * count; i++) {
          const length = reader.length('header');
          reader.at += length;
          headerBytes += length;
        }
      });
      const payload = reader.length('payload');
      reader.at += payload;
      return { bytes: reader.bytes.subarray(start, reader.at), payload, headers, headerBytes };
    });
  }
}

/**
 * @param {number} topicBytes
 * @param {number} events bytes of one event
 * @returns {number} maximum bytes of a frame with one event
 */
export const frameBytes = (topicBytes, events) => HEAD_ROOM + longBytes(topicBytes) + topicBytes + events + 1;
