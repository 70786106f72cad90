import { BusEvent } from '../event.js';
import { OF_EVENT, refuseUnknown } from '../options.js';

/** @import {Decoder, Payload, SendOptions} from '../types.js' */
/** @import {EventPlace, Reply as ReplyFrame} from '../wire/call-frames.js' */

/**
 * The event of a request or of a reply.
 * @template [T=unknown] what the codec reads
 */
export class CallEvent {
  #event;

  /**
   * Made by the SDK.
   * @param {EventPlace} place
   * @param {{service: string, number: number, schema: bigint, codec: Decoder | null}} head
   * @internal
   */
  constructor({ bytes, from }, { service, number, schema, codec }) {
    const head = { bytes, topic: service, producer: 0n, schema, receivedAt: 0, codec };
    this.#event = new BusEvent(head, number, 0, from, bytes.length);
  }

  /** @returns {Uint8Array} the payload */
  get payload() {
    return this.#event.payload;
  }

  /** @returns {string} the payload as UTF-8, with U+FFFD for invalid bytes */
  text() {
    return this.#event.text();
  }

  /**
   * @template [J=unknown]
   * @returns {J} the payload as JSON; its form is not checked
   * @throws {import('../errors.js').EventBusError} UNREADABLE_PAYLOAD
   */
  json() {
    return this.#event.json();
  }

  /**
   * @returns {T} the payload as the codec reads it; without one as JSON
   * @throws {import('../errors.js').EventBusError} UNREADABLE_PAYLOAD
   */
  value() {
    return /** @type {T} */ (this.#event.value());
  }

  /** @returns {string | null} for the application; null for none */
  get key() {
    return this.#event.key;
  }

  /** @returns {Record<string, string>} for the application; of a name that comes twice the last value */
  get headers() {
    return this.#event.headers;
  }

  /** @returns {number} when it was made, by its maker's clock: microseconds since 1970 */
  get publishedAt() {
    return this.#event.publishedAt;
  }

  /** @returns {bigint} CRC-64-AVRO fingerprint of the schema that its payload was written with; 0n for none */
  get schema() {
    return this.#event.schema;
  }
}

/**
 * Reply to a request.
 * @template [T=unknown] what `replyCodec` reads
 * @augments {CallEvent<T>}
 */
export class Response extends CallEvent {
  /**
   * Made by the SDK.
   * @param {string} service
   * @param {ReplyFrame} reply
   * @param {Decoder | null} codec
   * @internal
   */
  constructor(service, { call, member, queuedMicros, handledMicros, schema, event }, codec) {
    super(event, { service, number: call, schema, codec });
    /**
     * Number of the member, for the option `member`.
     * @readonly
     */
    this.member = member;
    /**
     * Milliseconds that the request waited in the bus.
     * @readonly
     */
    this.queued = queuedMicros / 1000;
    /**
     * Milliseconds that the member worked, as it says.
     * @readonly
     */
    this.handled = handledMicros / 1000;
  }
}

/** A reply with more than a payload, returned by a handler. */
export class Reply {
  /**
   * @param {Payload} payload as of `publish`
   * @param {SendOptions} [options]
   */
  constructor(payload, options = {}) {
    refuseUnknown(options, OF_EVENT, '');
    /** @readonly */
    this.payload = payload;
    /** @readonly */
    this.options = options;
  }
}
