import { Reader } from './reader.js';

/** @type {readonly number[]} */
const NO_GROUPS = [];
// Minimum bytes of an event: time, no key, no headers, empty payload.
const MIN_EVENT = 4;
const MIN_TOPIC_EVENTS = 16;

/**
 * Positions of the parts of a `Deliver` frame, so that only requested parts are decoded. One object is used for all frames.
 *
 * Each event has three numbers in `offsets`: start of the event, start of its payload, and its end.
 */
export class Deliver extends Reader {
  topicFrom = 0;
  topicTo = 0;
  producerTo = 0;
  sequence = 0;
  /** CRC-64-AVRO of the schema, 0 for none. */
  schema = 0n;
  receivedAt = 0;
  /** Position of the first event, -1 if the topic is not durable. */
  offset = -1;
  /** Publisher of the events of a durable topic, and its number of the first one. */
  originProducer = 0n;
  originSequence = 0;
  count = 0;
  offsets = new Int32Array(3 * MIN_TOPIC_EVENTS);
  groups = NO_GROUPS;

  /**
   * @param {Uint8Array} message
   * @param {number} from start of the body
   * @param {number} to its end
   */
  read(message, from, to) {
    this.wrap(message, from, to);
    const length = this.length('topic');
    this.topicFrom = this.at;
    this.topicTo = this.at += length;
    this.skipLong('producer');
    this.producerTo = this.at;
    const at = this.at;
    this.sequence = this.long('sequence');
    if (message[this.at] === 0 && this.at < to) {
      this.at++;
      this.schema = 0n;
    } else {
      this.schema = this.bigint64('schema');
    }
    this.receivedAt = this.long('receivedAt');
    this.offset = this.long('offset');
    this.#events();
    if (this.sequence < 1 || !Number.isSafeInteger(this.sequence + Math.max(0, this.count - 1))) {
      throw this.malformed('sequence', at, String(this.sequence), '1..9007199254740991, to the last event');
    }
    this.groups = this.done ? NO_GROUPS : this.#groups();
    this.originProducer = this.done ? 0n : this.bigint64('originProducer');
    this.originSequence = this.done ? 0 : this.long('originSequence');
  }

  /** @returns {bigint} the producer's number */
  producer() {
    this.at = this.topicTo;
    return this.bigint64('producer');
  }

  #events() {
    this.count = 0;
    this.blocks('events', MIN_EVENT, count => {
      const needed = 3 * (this.count + count);
      if (this.offsets.length < needed) {
        const larger = new Int32Array(Math.max(needed, 2 * this.offsets.length));
        larger.set(this.offsets);
        this.offsets = larger;
      }
      const { offsets, bytes } = this;
      let o = 3 * this.count;
      for (let i = 0; i < count; i++) {
        offsets[o] = this.at;
        this.skipLong('publishedAt');
        // The usual case: no key and no headers.
        if (bytes[this.at] === 0 && bytes[this.at + 1] === 0 && this.at + 1 < this.end) {
          this.at += 2;
        } else {
          this.#names();
        }
        const length = this.length('payload');
        offsets[o + 1] = this.at;
        offsets[o + 2] = this.at += length;
        o += 3;
      }
      this.count += count;
    });
  }

  #names() {
    if (this.present('key')) {
      this.skipString('key');
    }
    this.blocks('headers', 2, count => {
      for (let i = 0; i < count; i++) {
        this.skipString('header name');
        this.skipString('header value');
      }
    });
  }

  #groups() {
    /** @type {number[]} */
    const all = [];
    this.blocks('groups', 1, count => {
      for (let i = 0; i < count; i++) {
        all.push(this.long('groups'));
      }
    });
    return all;
  }
}
