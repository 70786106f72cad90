import { EventBusError, textOf } from './errors.js';
import { INSPECT, shownAs } from './inspect.js';
import { Reader } from './wire/reader.js';

/** @import {Decoder} from './types.js' */

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const reader = new Reader();

/**
 * The common part of the events of one delivery.
 *
 * @typedef {object} Head
 * @property {Uint8Array} bytes the message
 * @property {string} topic
 * @property {bigint} producer
 * @property {bigint} schema
 * @property {number} receivedAt
 * @property {Decoder | null} codec
 * @property {Origin | null} [origin] of a durable topic
 *
 * The numbers of the first event of a delivery of a durable topic. The head has those of the journal's stream, which tell what is missing.
 * @typedef {object} Origin
 * @property {bigint} producer the publisher
 * @property {number} sequence its number of the event
 * @property {number} position in the journal
 * @property {number} first the number in the stream
 */

/**
 * A received event. Key, headers, time and payload are read from their message on demand, so that an event that is kept keeps its message, of up to
 * some megabytes: keep {@link BusEvent#detached} instead.
 * @template [T=unknown] what the subscription's codec reads
 */
export class BusEvent {
  #head;
  #at;
  #from;
  #to;

  /**
   * Made by the SDK.
   * @param {Head} head common part of the delivery
   * @param {number} number its number in the stream
   * @param {number} at start of the event in the message
   * @param {number} from start of its payload
   * @param {number} to end of its payload
   * @internal
   */
  constructor(head, number, at, from, to) {
    const { origin } = head;
    this.#head = head;
    /**
     * Number of the event among those of its publisher and topic: from 1, without gaps.
     * @readonly
     */
    this.sequence = origin ? origin.sequence + number - origin.first : number;
    this.#at = at;
    this.#from = from;
    this.#to = to;
  }

  /** @returns {string} the topic it was published to */
  get topic() {
    return this.#head.topic;
  }

  /** @returns {bigint} the number of the client that published it */
  get producer() {
    return (this.#head.origin ?? this.#head).producer;
  }

  /** @returns {number} the position in its journal, from 1; 0 if the topic is not durable */
  get position() {
    const { origin } = this.#head;
    return origin ? origin.position + this.sequence - origin.sequence : 0;
  }

  /**
   * @returns {{topic: string, producer: bigint, number: number}} the place in its stream
   * @internal
   */
  get place() {
    const { topic, producer, origin } = this.#head;
    return { topic, producer, number: origin ? origin.first + this.sequence - origin.sequence : this.sequence };
  }

  /** @returns {bigint} CRC-64-AVRO fingerprint of the schema that its payload was written with; 0n for none */
  get schema() {
    return this.#head.schema;
  }

  /** @returns {number} time at which the first bus received it, by its clock, in microseconds since 1970 */
  get receivedAt() {
    return this.#head.receivedAt;
  }

  /** @returns {number} time of publishing, by the publisher's clock, in microseconds since 1970 */
  get publishedAt() {
    return this.#names().long('publishedAt');
  }

  /** @returns {string | null} the key for CONFLATE; null for none */
  get key() {
    const at = this.#names();
    at.skipLong('publishedAt');
    return at.present('key') ? at.string('key') : null;
  }

  /** @returns {Record<string, string>} for the application; of a name that comes twice the last value */
  get headers() {
    const at = this.#names();
    at.skipLong('publishedAt');
    if (at.present('key')) {
      at.skipString('key');
    }
    /** @type {Record<string, string>} */
    const headers = Object.create(null);
    at.blocks('headers', 2, count => {
      for (let i = 0; i < count; i++) {
        const name = at.string('header name');
        headers[name] = at.string('header value');
      }
    });
    return headers;
  }

  /** @returns {Reader} at its beginning */
  #names() {
    return reader.wrap(this.#head.bytes, this.#at, this.#from);
  }

  /** @returns {Uint8Array} the payload: a view into the message, not to be changed */
  get payload() {
    return this.#head.bytes.subarray(this.#from, this.#to);
  }

  /** @returns {string} the payload as UTF-8, with U+FFFD for invalid bytes */
  text() {
    return utf8.decode(this.payload);
  }

  /**
   * @template [J=unknown]
   * @returns {J} the payload as JSON; its form is not checked
   * @throws {EventBusError} UNREADABLE_PAYLOAD
   */
  json() {
    try {
      return JSON.parse(this.text());
    } catch (thrown) {
      throw this.#unreadable(thrown);
    }
  }

  /**
   * @returns {T} the payload as the subscription's codec reads it; without a codec as JSON
   * @throws {EventBusError} UNREADABLE_PAYLOAD
   */
  value() {
    const { codec } = this.#head;
    if (!codec) {
      return this.json();
    }
    try {
      return /** @type {T} */ (codec.decode(this.payload, this.schema));
    } catch (thrown) {
      throw this.#unreadable(thrown);
    }
  }

  /** @param {unknown} thrown by a decoder */
  #unreadable(thrown) {
    return new EventBusError('UNREADABLE_PAYLOAD', `event ${this.sequence} of ${this.topic}: ${textOf(thrown)}`, { cause: thrown });
  }

  /**
   * @returns {number} bytes that it takes in its message
   * @internal
   */
  get size() {
    return this.#to - this.#at;
  }

  /** @returns {BusEvent<T>} the same event, with bytes of its own */
  detached() {
    const at = this.#at;
    const head = { ...this.#head, bytes: this.#head.bytes.slice(at, this.#to) };
    return new BusEvent(head, this.place.number, 0, this.#from - at, this.#to - at);
  }

  /**
   * Returns the text for `console.log` of Node.
   * @param {number} depth
   * @param {object} options
   * @param {(value: unknown, options: object) => string} inspect
   * @returns {string}
   * @internal
   */
  [INSPECT](depth, options, inspect) {
    return shownAs(this, { ...this.toJSON(), producer: this.producer, schema: this.schema, headers: { ...this.headers } }, options, inspect);
  }

  /** @returns {import('./types.js').EventJson} the event for JSON.stringify: producer and schema as text, the payload as UTF-8 */
  toJSON() {
    return {
      topic: this.topic,
      sequence: this.sequence,
      position: this.position,
      producer: String(this.producer),
      schema: String(this.schema),
      publishedAt: this.publishedAt,
      receivedAt: this.receivedAt,
      key: this.key,
      headers: this.headers,
      payload: this.text(),
    };
  }
}
