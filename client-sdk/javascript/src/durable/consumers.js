import { EventBusError } from '../errors.js';
import { Deliver } from '../wire/deliver.js';
import { decodeFeed, decodeTruncated, eachDeliver } from '../wire/durable-frames.js';
import * as TYPE from '../wire/type.js';
import { BusEvent } from '../event.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {DurableHome} from '../internal.js' */
/** @import {Feed} from '../wire/durable-frames.js' */
/** @import {Confirm} from '../wire/frames.js' */
/** @import {Reader} from '../wire/reader.js' */
/** @import {Listener} from './consumer.js' */
/** @import {ConsumeSettings} from './options.js' */
/** @import {DurableSubscription} from './subscription.js' */
/** @import {Worker} from './worker.js' */

const SLOW_CONSUMER = 4001;

/** The consumers of one client, over all its connections. */
export class Consumers {
  #home;
  /** @type {Map<number, DurableSubscription | Worker>} */
  #byId = new Map();
  #view = new Deliver();

  /** @param {DurableHome} home */
  constructor(home) {
    this.#home = home;
  }

  /**
   * @template {DurableSubscription | Worker} C
   * @param {ConsumeSettings} settings
   * @param {unknown} handler
   * @param {(id: number, home: DurableHome, listener: Listener) => C} make returns the consumer
   * @returns {C}
   */
  begin(settings, handler, make) {
    if (handler !== undefined && typeof handler !== 'function') {
      throw new TypeError(`handler: ${typeof handler} (expected: a function)`);
    }
    this.#home.checkOpen();
    settings.signal?.throwIfAborted();
    const { registry, counters, events, env } = this.#home;
    const id = registry.nextId();
    const consumer = make(id, this.#home, {
      ended: () => void this.#byId.delete(id),
      truncated: truncated => {
        if (!events.emit('truncated', { subscription: consumer, ...truncated }) && !settings.onTruncated) {
          env.report(new EventBusError('TRUNCATED', `${consumer} does not get the events at ${truncated.from} to ${truncated.to} (${truncated.reason})`));
        }
      },
      failed: (error, event) => {
        counters.handlerFailures++;
        if (!events.emit('handlerError', { error, event, subscription: consumer })) {
          env.report(error);
        }
      },
    });
    this.#byId.set(id, consumer);
    registry.add(consumer);
    return consumer;
  }

  // ---- What the bus says

  /**
   * @param {number} type
   * @param {Reader} body
   * @param {number} bytes of the frame
   * @param {BusLink} link
   * @returns {boolean} whether the frame is one of consumers
   */
  frame(type, body, bytes, link) {
    if (type === TYPE.FEED) {
      this.#feed(body, bytes, link);
    } else if (type === TYPE.TRUNCATED) {
      const { id, from, to, reason } = decodeTruncated(body);
      this.#byId.get(id)?.truncated(link, from, to, reason);
    } else {
      return false;
    }
    return true;
  }

  /**
   * @param {Reader} body
   * @param {number} bytes
   * @param {BusLink} link
   */
  #feed(body, bytes, link) {
    const feed = decodeFeed(body);
    // None if it was under way when the consumer ended.
    const consumer = this.#byId.get(feed.id);
    if (!consumer) {
      return;
    }
    const { bytes: message } = body;
    const events = this.#check(message, feed);
    // The events of a small part of a message do not keep all of it.
    const isSmall = message.length > 2 * bytes + 1024;
    const own = isSmall ? message.slice(feed.start, feed.end) : message;
    const start = isSmall ? 0 : feed.start;
    const end = start + feed.end - feed.start;
    consumer.fed(link, feed, bytes, events, known => this.#events(own, { ...feed, start, end }, known, consumer));
    if (consumer.isOverrun) {
      link.fail(`${consumer} has ${consumer.counters().bufferedBytes} bytes that are not handled (expected: the bus keeps to the limit)`, null, SLOW_CONSUMER);
    }
  }

  /**
   * Checks the frames of a `Feed`.
   * @param {Uint8Array} message
   * @param {Feed} feed
   * @returns {{position: number, count: number}[]} the first positions and numbers of events of its Deliver frames
   */
  #check(message, feed) {
    const view = this.#view;
    // Not `from` - 1: the first frame may begin before it.
    let last = 0;
    /** @type {{position: number, count: number}[]} */
    const all = [];
    eachDeliver(message, feed, (from, to) => {
      view.read(message, from, to);
      const { offset, count } = view;
      if (count === 0) {
        return;
      }
      if (offset <= last || offset + count - 1 > feed.to) {
        throw view.malformed('offset', from, `${offset}, of ${count} events`, `positions ${last + 1}..${feed.to}`);
      }
      last = offset + count - 1;
      all.push({ position: offset, count });
    });
    return all;
  }

  /**
   * @param {Uint8Array} message
   * @param {Feed} feed that was checked
   * @param {number} known every event up to this position came before
   * @param {DurableSubscription | Worker} consumer
   * @returns {BusEvent[]} its new events
   */
  #events(message, feed, known, { codec }) {
    const view = this.#view;
    /** @type {BusEvent[]} */
    const events = [];
    eachDeliver(message, feed, (from, to) => {
      view.read(message, from, to);
      const { offset, count, offsets, schema, receivedAt, originProducer, originSequence } = view;
      const topic = view.text('topic', view.topicFrom, view.topicTo);
      const origin = { producer: originProducer, sequence: originSequence, position: offset, first: 0 };
      const head = { bytes: message, topic, producer: originProducer, schema, receivedAt, codec, origin };
      for (let i = Math.max(0, known - offset + 1); i < count; i++) {
        const at = 3 * i;
        events.push(new BusEvent(head, i, /** @type {number} */ (offsets[at]), /** @type {number} */ (offsets[at + 1]), /** @type {number} */ (offsets[at + 2])));
      }
    });
    return events;
  }

  /**
   * Handles the bus's acceptance of a consumer, of a settlement, or of the wish for an end.
   * @param {Confirm} confirm of any frame
   * @param {BusLink} link
   */
  confirmed(confirm, link) {
    const { typeCode, about, position } = confirm;
    const consumer = this.#byId.get(about);
    if (typeCode === TYPE.CONSUME) {
      consumer?.accepted(confirm, link);
    } else if (typeCode === TYPE.SETTLE) {
      consumer?.settled(link, position);
    } else if (typeCode === TYPE.UNSUBSCRIBE && consumer?.isExclusive) {
      // The end comes when all that it has is settled.
      this.#home.registry.postpone(about);
    }
  }

  /**
   * Handles the bus's refusal of a settlement.
   * @param {number} id
   * @param {EventBusError} failure
   * @param {BusLink} link
   * @returns {boolean} whether a call or the SDK waits for it
   */
  settleRefused(id, failure, link) {
    const consumer = this.#byId.get(id);
    // Without the consumer, or while it stands by: what is handled is told again.
    return consumer?.settleRefused(link, failure) || failure.busCode === 'UNKNOWN_SUBSCRIPTION';
  }

  /**
   * Handles the bus's refusal of a consumer, or that it has ended one.
   * @param {number} id
   * @param {EventBusError} failure
   * @param {BusLink} link
   * @returns {boolean} whether a call waits for it
   */
  refused(id, failure, link) {
    const { registry } = this.#home;
    if (failure.busCode === 'UNKNOWN_TYPE') {
      // The bus has no durable topics, and does not read which consumer it refuses: all wait for another bus.
      let isAwaited = false;
      for (const one of this.#byId.values()) {
        registry.postpone(one.id);
        isAwaited = one.refusedHere(failure) || isAwaited;
      }
      return isAwaited;
    }
    const consumer = this.#byId.get(id);
    if (!consumer?.isConfirmed || !(failure.retryable || failure.busCode === 'REPLACED')) {
      return registry.refused(id, failure);
    }
    registry.postpone(id);
    consumer.endedBy(link);
    return false;
  }

  /**
   * Records that a bus that the client is about to move to has refused or ended a consumer.
   * @param {number} id
   * @param {BusLink} link
   */
  refusedAhead(id, link) {
    this.#byId.get(id)?.endedBy(link);
  }

  /** @param {BusLink} link of the bus that the client is about to leave */
  leave(link) {
    this.#byId.forEach(one => one.leave(link));
  }

  /** @param {BusLink} link that has ended */
  lost(link) {
    this.#byId.forEach(one => one.lost(link));
  }
}
