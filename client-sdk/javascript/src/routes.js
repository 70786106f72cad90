import { ProducerState } from './producers.js';
import { utf8 } from './wire/bytes.js';

/** @import {Deliver} from './wire/deliver.js' */
/** @import {Subscription} from './subscription.js' */

const SLOTS = 1024;

/** An inbound topic: its matching subscriptions and its producers. */
export class TopicHandlers {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.bytes = utf8(name);
    /** @type {Map<bigint, ProducerState>} */
    this.producers = new Map();
    /** @type {Subscription[]} matching ones without a group */
    this.everyEvent = [];
    /** @type {Subscription[]} matching ones with a group */
    this.inGroups = [];
    /** @type {Subscription[]} confirmed ones of everyEvent */
    this.served = [];
    /** Version of the subscriptions that it was matched against. */
    this.version = -1;
    /** Index of its slot. */
    this.slot = -1;
  }

  /**
   * Matches the topic against the current subscriptions.
   * @param {Iterable<Subscription>} subscriptions
   * @param {number} version of the subscriptions
   */
  match(subscriptions, version) {
    const before = this.served;
    this.version = version;
    this.everyEvent = [];
    this.inGroups = [];
    for (const s of subscriptions) {
      if (s.matches(this.name)) {
        (s.group === null ? this.everyEvent : this.inGroups).push(s);
      }
    }
    this.served = this.everyEvent.filter(s => s.isConfirmed);
    if (before.length > 0 && !before.some(s => this.served.includes(s))) {
      // None of the subscriptions served before is still served: events may have been missed meanwhile.
      for (const producer of this.producers.values()) {
        producer.forgetBaseline();
      }
    }
  }
}

/** Finds topics and producers by their bytes in a message. Bounded: the least recently used ones are forgotten. */
export class Routes {
  /** @type {Map<string, TopicHandlers>} */
  #topics = new Map();
  /** @type {Set<ProducerState>} */
  #producers = new Set();
  /** @type {(TopicHandlers | undefined)[]} */
  #slots = new Array(SLOTS);
  #max;
  // Topic and producer found last, with their bytes: frames of a stream mostly come in a row.
  #lastBytes = new Uint8Array(0);
  #lastLength = -1;
  /** @type {ProducerState | null} */
  #last = null;

  /** @param {number} max maximum of remembered pairs of topic and producer */
  constructor(max) {
    this.#max = max;
  }

  /**
   * @param {Deliver} deliver the frame
   * @returns {ProducerState} its topic and producer
   */
  find(deliver) {
    const { bytes, topicFrom, producerTo } = deliver;
    const length = producerTo - topicFrom;
    if (this.#last && length === this.#lastLength && same(this.#lastBytes, bytes, topicFrom, length)) {
      this.#last.touched = true;
      return this.#last;
    }
    const found = this.producer(this.#topicAt(deliver), deliver.producer());
    if (this.#lastBytes.length < length) {
      this.#lastBytes = new Uint8Array(2 * length);
    }
    this.#lastBytes.set(bytes.subarray(topicFrom, producerTo));
    this.#lastLength = length;
    this.#last = found;
    return found;
  }

  /** @param {Deliver} deliver */
  #topicAt(deliver) {
    const { bytes, topicFrom, topicTo } = deliver;
    let hash = 0;
    for (let i = topicFrom; i < topicTo; i++) {
      hash = (Math.imul(hash, 31) + /** @type {number} */ (bytes[i])) | 0;
    }
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    let topic = this.#slots[slot];
    if (!topic || topic.bytes.length !== topicTo - topicFrom || !same(topic.bytes, bytes, topicFrom, topicTo - topicFrom)) {
      topic = this.topic(deliver.text('topic', topicFrom, topicTo));
      topic.slot = slot;
      this.#slots[slot] = topic;
    }
    return topic;
  }

  /**
   * @param {string} name
   * @returns {TopicHandlers} the topic
   */
  topic(name) {
    let topic = this.#topics.get(name);
    if (!topic) {
      topic = new TopicHandlers(name);
      this.#topics.set(name, topic);
    }
    return topic;
  }

  /**
   * @param {TopicHandlers} topic
   * @param {bigint} number
   * @returns {ProducerState} the producer
   */
  producer(topic, number) {
    let state = topic.producers.get(number);
    if (!state) {
      state = new ProducerState(topic, number);
      topic.producers.set(number, state);
      // Set again, in case it was forgotten while it had no producer.
      this.#topics.set(topic.name, topic);
      this.#producers.add(state);
      if (this.#producers.size > this.#max) {
        this.#forgetOne();
      }
    }
    state.touched = true;
    return state;
  }

  /** Forgets one entry by second chance: an entry used since the last visit goes to the end. */
  #forgetOne() {
    for (const state of this.#producers) {
      this.#producers.delete(state);
      if (state.touched) {
        state.touched = false;
        this.#producers.add(state);
        continue;
      }
      const { topic } = state;
      topic.producers.delete(state.producer);
      if (this.#last === state) {
        this.#last = null;
      }
      if (topic.producers.size === 0) {
        this.#topics.delete(topic.name);
        if (this.#slots[topic.slot] === topic) {
          this.#slots[topic.slot] = undefined;
        }
      }
      return;
    }
  }
}

/**
 * @param {Uint8Array} whole
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} length
 */
function same(whole, bytes, from, length) {
  for (let i = 0; i < length; i++) {
    if (whole[i] !== bytes[from + i]) {
      return false;
    }
  }
  return true;
}
