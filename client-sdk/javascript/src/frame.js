import { Reader } from './wire/reader.js';
import * as TYPE from './wire/type.js';
import * as LIMIT from './wire/limit.js';
import { longBytes, Writer } from './wire/writer.js';

/** @import {Published} from './types.js' */

/**
 * Who waits for the confirmation of one event.
 *
 * @typedef {object} Waiter
 * @property {(published: Published) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/**
 * A topic that was published to.
 *
 * @typedef {object} OutTopic
 * @property {string} name
 * @property {Uint8Array} head its bytes, with their length before them
 * @property {number} next sequence of the next event
 * @property {PublishFrame | null} open the frame that is being filled
 * @property {PublishFrame[]} sent those that the bus is to confirm, in the order of their numbers
 */

// Type code, length of the body, sequence, schema, confirm, number of events, their size: what is before the events beside the topic.
const HEAD_ROOM = 1 + 5 + 10 + 10 + 1 + 5 + 5;
const scratch = new Writer(1024);

/** A `Publish`: is filled, sealed, sent and, if it asks for that, confirmed. Its events are written only once. */
export class PublishFrame {
  /** How many events it has. */
  count = 0;
  /** When its first event was published, in ms. */
  born = 0;
  /** Bytes of the outbound buffer. */
  cost = 0;
  /** Events without a waiter that have arrived when it is confirmed. */
  plainUpTo = 0;
  /** Whether it is confirmed though no call waits for it. */
  isMarker = false;
  isSent = false;
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

  /** @returns {Writer} takes the next event; `added` has to follow */
  get writer() {
    return this.#writer;
  }

  /** @returns {number} bytes of its events */
  get size() {
    return this.#writer.at - this.#from;
  }

  /** @returns {boolean} whether it takes no more events */
  get isFull() {
    return this.count >= LIMIT.publishEvents;
  }

  /** @returns {Uint8Array} the frame, which is not changed afterwards */
  bytes() {
    const w = this.#writer;
    const { size } = this;
    if (w.bytes.length > 2 * (this.#from + size) + 64) {
      // It may be kept for a while.
      w.bytes = w.bytes.slice(0, w.at + 1);
    }
    scratch.at = 0;
    scratch.raw(this.topic.head);
    scratch.long(this.first);
    scratch.bigint64(this.schema);
    scratch.boolean(this.waiters !== null || this.isMarker);
    scratch.long(-this.count);
    scratch.long(size);
    const head = scratch.bytes.slice(0, scratch.at);
    // The end of the array is one byte more.
    const body = head.length + size + 1;
    scratch.at = 0;
    scratch.long(TYPE.PUBLISH);
    scratch.long(body);
    const start = this.#from - head.length - scratch.at;
    const end = w.at;
    w.reserve(1);
    w.bytes[end] = 0;
    w.bytes.set(scratch.bytes.subarray(0, scratch.at), start);
    w.bytes.set(head, this.#from - head.length);
    return w.bytes.subarray(start, end + 1);
  }

  /**
   * Tells everybody who waits.
   * @param {bigint} producer
   * @param {number | undefined} receivers
   */
  resolve(producer, receivers) {
    this.waiters?.forEach((waiter, i) => waiter?.resolve({ topic: this.topic.name, producer, sequence: this.first + i, receivers }));
    this.waiters?.fill(null);
  }

  /** @param {unknown} error */
  reject(error) {
    this.waiters?.forEach(waiter => waiter?.reject(error));
    this.waiters?.fill(null);
  }

  /**
   * Its events one by one, for a bus that takes less than the one that they were made for.
   * @returns {{bytes: Uint8Array, payload: number, headers: number, headerBytes: number}[]} what each takes
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
 * @returns {number} bytes that a frame with one event takes at most
 */
export const frameBytes = (topicBytes, events) => HEAD_ROOM + longBytes(topicBytes) + topicBytes + events + 1;
