import { encodeEvent, estimate, notDurable } from './encoder.js';
import { EventBusError } from './errors.js';
import { ForgottenTopics } from './forgotten-topics.js';
import { PublishFrame } from './frame.js';
import { Fifo } from './fifo.js';
import { AROUND_EVENT, fits, splitBatch, usable } from './batch-splitter.js';
import { checkTopic } from './topics.js';
import { utf8 } from './wire/bytes.js';

/** @import {OutTopic, Waiter} from './frame.js' */
/** @import {CallPort, Channel, Environment} from './internal.js' */
/** @import {Counters, DurableOptions, Limits, SendOptions} from './types.js' */
/** @import {Confirm, Welcome} from './wire/frames.js' */
/** @import {Settings} from './options.js' */

/**
 * A frame without events that is sent in order with them: a `Subscribe`, an `Unsubscribe`, a `Barrier`.
 *
 * @typedef {object} Control
 * @property {Uint8Array} control the frame
 * @property {((plainSent: number) => void) | null} onSent of a barrier
 */

// Bytes not taken by the network above which frames are collected until it has caught up.
const HIGH_WATER = 2 ** 20;
// Bytes of events without a waiter after which a frame is confirmed.
const MARK_BYTES = 262_144;
// Time by which timers may be early, and minimum interval of checks of waiting events, in ms.
const EARLY = 1;
const MIN_WAIT = 5;
const MIN_POLL = 4;
const MAX_POLL = 50;
// Maximum of quiet topics that are kept whole, and of those of which only the numbers are kept.
const MAX_TOPICS = 50_000;
const MAX_FORGOTTEN = 500_000;

/**
 * The outbound buffer: numbers events, collects them in frames and messages, and keeps unconfirmed ones. Bounded in bytes.
 *
 * A frame is open (one for each topic), then in the queue, then in `#unconfirmed` if a call waits for it. When a connection is lost, unconfirmed
 * frames go back to the front of the queue, in order, so that each topic keeps its order. A microtask at the end of the turn seals open frames: a
 * single event waits for nothing, and a loop of a thousand sends makes one message.
 */
export class Outbox {
  #settings;
  #env;
  #counters;
  #calls;
  /** @type {Map<string, OutTopic>} */
  #topics = new Map();
  #forgotten = new ForgottenTopics(MAX_FORGOTTEN);
  /** @type {Set<PublishFrame>} */
  #open = new Set();
  #openBytes = 0;
  /** @type {Fifo<PublishFrame | Control>} */
  #queue = new Fifo();
  /** @type {Set<PublishFrame>} sent, in order */
  #unconfirmed = new Set();
  /** @type {Channel | null} */
  #channel = null;
  // Set while the client is about to leave its bus: events wait.
  #isPaused = false;
  #isScheduled = false;
  // Set while open frames wait for longer than a turn.
  #isBehind = false;
  // Set while a call of `onRoom` is scheduled.
  #isTelling = false;
  #poll = MIN_POLL;
  /** @type {unknown} */
  #pollTimer = null;
  /** @type {unknown} */
  #expiring = null;
  #used = 0;
  #capacity = 512;
  // Events without a waiter: number sent, and number known to have arrived; bytes since the last confirmed frame, and the confirmed frames under way.
  #plainSent = 0;
  #plainKnown = 0;
  #unmarked = 0;
  /** @type {Set<PublishFrame>} */
  #markers = new Set();
  #producer = 0n;
  /** Set while the bus, or the last one, has durable topics. */
  isDurable = false;
  /** Called when the buffer has become smaller. */
  onRoom = () => {};

  /**
   * @param {Settings} settings
   * @param {Environment} env
   * @param {Counters} counters
   * @param {CallPort | null} calls whose requests are sent alternately with events
   */
  constructor(settings, env, counters, calls = null) {
    this.#settings = settings;
    this.#env = env;
    this.#counters = counters;
    this.#calls = calls;
    /** @type {Limits | null} limits of the bus */
    this.limits = null;
  }

  /** @returns {number} bytes of events that are not sent, or not confirmed */
  get used() {
    return this.#used;
  }

  get #batchBytes() {
    return Math.min(this.#settings.batchBytes, (this.limits?.messageBytes ?? Infinity) - 512);
  }

  /** @returns {number} topics that were published to */
  get topics() {
    return this.#topics.size + this.#forgotten.size;
  }

  /** @returns {boolean} whether everything is sent, and confirmed where that was asked for */
  get isEmpty() {
    return this.#open.size === 0 && this.#queue.size === 0 && this.#unconfirmed.size === 0;
  }

  /** @returns {boolean} whether events were sent that are not known to have arrived */
  get isUnsure() {
    return this.#plainKnown < this.#plainSent;
  }

  /** @returns {number} events that are not sent, or not known to have arrived */
  get unsettled() {
    let events = this.#plainSent - this.#plainKnown;
    const count = (/** @type {PublishFrame | Control} */ item) => { events += 'control' in item ? 0 : item.count; };
    this.#open.forEach(count);
    this.#queue.forEach(count);
    this.#unconfirmed.forEach(count);
    return events;
  }

  /**
   * Adds an event.
   * @param {string} name of the topic
   * @param {unknown} payload
   * @param {SendOptions & DurableOptions} options
   * @param {Waiter | null} waiter null if no call waits for the confirmation
   * @returns {{frame: PublishFrame, index: number} | null} its place; null if the buffer is full
   */
  add(name, payload, options, waiter) {
    const topic = this.#topics.get(name) ?? this.#newTopic(name);
    const { outboundBytes } = this.#settings;
    const batchBytes = this.#batchBytes;
    const { event, max } = estimate(payload, options, this.limits, outboundBytes);
    const { tail } = event;
    if (tail && !this.isDurable) {
      throw notDurable();
    }
    if (this.#used + max + AROUND_EVENT > outboundBytes && this.#used > 0) {
      return null;
    }
    let frame = topic.open;
    // An event that asks for something is alone in its frame.
    if (frame && (tail || frame.tail || frame.schema !== event.schema || (frame.waiters !== null) !== (waiter !== null) || frame.isFull
      || frame.size + max > batchBytes || (waiter && this.#isBehind && this.#env.now() - frame.born > MIN_WAIT))) {
      // Sealed, so that it expires with events of its own age.
      this.#seal(frame);
      frame = null;
    }
    if (!frame) {
      frame = new PublishFrame(topic, topic.next, event.schema, waiter ? [] : null, Math.max(this.#capacity, max));
      frame.born = this.#env.now();
      frame.tail = tail;
      topic.open = frame;
      this.#open.add(frame);
    }
    const before = frame.size;
    encodeEvent(frame.writer, event, this.#env.micros);
    const bytes = frame.size - before;
    frame.waiters?.push(waiter);
    if (waiter && this.#expiring === null) {
      this.#expireIn(this.#settings.confirmTimeout);
    }
    topic.next++;
    const index = frame.count++;
    frame.cost += bytes + AROUND_EVENT;
    this.#used += bytes + AROUND_EVENT;
    this.#openBytes += bytes;
    this.#counters.published++;
    if (this.#openBytes >= batchBytes) {
      this.#sealAll();
      this.#pump();
    } else {
      this.#schedule();
    }
    return { frame, index };
  }

  /** @param {string} name */
  #newTopic(name) {
    checkTopic(name);
    if (this.#topics.size >= MAX_TOPICS && this.#open.size === 0 && this.#queue.size === 0) {
      this.#forgetQuiet();
    }
    const bytes = utf8(name);
    const head = bytes.length < 64 ? Uint8Array.of(bytes.length << 1, ...bytes)
      : Uint8Array.of((bytes.length << 1 & 127) | 128, bytes.length >> 6, ...bytes);
    /** @type {OutTopic} */
    const topic = { name, head, next: this.#forgotten.take(name), open: null, sent: [] };
    this.#topics.set(name, topic);
    return topic;
  }

  #forgetQuiet() {
    for (const { name, next, sent } of this.#topics.values()) {
      if (sent.length === 0) {
        this.#topics.delete(name);
        this.#forgotten.put(name, next);
      }
    }
  }

  /**
   * Queues a control frame behind the events that were published before.
   * @param {Uint8Array} control
   * @param {((plainSent: number) => void) | null} onSent
   */
  control(control, onSent = null) {
    this.#sealAll();
    this.#queue.push({ control, onSent });
    this.#schedule();
  }

  /**
   * Sends a frame at once, ahead of the queue; lost without a connection.
   * @param {Uint8Array} frame
   */
  sendNow(frame) {
    this.#channel?.send([frame]);
  }

  /** Schedules sending at the end of the turn. */
  wake() {
    this.#schedule();
  }

  #schedule() {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => {
        this.#isScheduled = false;
        this.flush();
      });
    }
  }

  /** Sends what is buffered, as far as the network takes it. */
  flush() {
    this.#isBehind = !this.#mayWrite();
    if (!this.#isBehind) {
      this.#sealAll();
    }
    this.#pump();
  }

  #mayWrite() {
    return this.#channel !== null && !this.#isPaused && this.#channel.bufferedAmount < HIGH_WATER;
  }

  /** @param {PublishFrame} frame to be sealed */
  #close(frame) {
    frame.topic.open = null;
    this.#open.delete(frame);
    this.#openBytes -= frame.size;
  }

  /** @param {PublishFrame} frame */
  #seal(frame) {
    this.#close(frame);
    // The next frame will probably have this size.
    this.#capacity = Math.min(this.#batchBytes, Math.max(256, frame.size + 64));
    this.#queue.push(frame);
  }

  #sealAll() {
    for (const frame of this.#open) {
      this.#seal(frame);
    }
  }

  #pump() {
    while (this.#mayWrite() && (this.#sendCalls() || this.#queue.size > 0)) {
      if (this.#queue.size > 0 && this.#mayWrite()) {
        this.#sendOne();
      }
    }
    if (this.#channel && !this.#isPaused && (this.#queue.size > 0 || this.#open.size > 0 || this.#calls?.isWaiting) && this.#pollTimer === null && !this.#mayWrite()) {
      this.#pollTimer = this.#env.setTimeout(() => {
        this.#pollTimer = null;
        this.#poll = Math.min(MAX_POLL, 2 * this.#poll);
        this.flush();
      }, this.#poll);
    }
  }

  /** @returns {boolean} whether a message of requests was sent */
  #sendCalls() {
    const channel = /** @type {Channel} */ (this.#channel);
    const chunks = this.#calls?.take(channel, this.#batchBytes) ?? [];
    if (chunks.length > 0) {
      channel.send(chunks);
    }
    return chunks.length > 0;
  }

  /** Sends one message. */
  #sendOne() {
    const batchBytes = this.#batchBytes;
    /** @type {Uint8Array[]} */
    const chunks = [];
    let bytes = 0;
    let events = 0;
    for (let next = this.#queue.first; next && (bytes === 0 || bytes + ('control' in next ? next.control.length : next.size + 330) <= batchBytes);
      next = this.#queue.first) {
      this.#queue.shift();
      let chunk;
      if ('control' in next) {
        chunk = next.control;
        next.onSent?.(this.#plainSent);
      } else {
        chunk = this.#sending(next);
        events += next.count;
      }
      chunks.push(chunk);
      bytes += chunk.length;
    }
    if (events > 0) {
      this.#counters.messagesSent++;
    }
    this.#poll = MIN_POLL;
    /** @type {Channel} */ (this.#channel).send(chunks);
  }

  /** @param {PublishFrame} frame */
  #sending(frame) {
    if (frame.waiters) {
      if (frame.isSent) {
        this.#counters.resent += frame.count;
      }
      this.#unconfirmed.add(frame);
      frame.topic.sent.push(frame);
      this.#unmarked = 0;
    } else {
      this.#plainSent += frame.count;
      this.#unmarked += frame.size;
      this.#release(frame);
      if (this.#unmarked >= MARK_BYTES) {
        // Confirmed now and then, so that few events are indeterminate after a lost connection.
        this.#unmarked = 0;
        frame.isMarker = true;
        this.#markers.add(frame);
        frame.topic.sent.push(frame);
      }
    }
    frame.plainUpTo = this.#plainSent;
    const bytes = frame.bytes();
    frame.isSent = true;
    return bytes;
  }

  /** @param {PublishFrame} frame */
  #release(frame) {
    this.#used -= frame.cost;
    frame.cost = 0;
    if (!this.#isTelling) {
      // Not at once: events published by the callback have to come behind the message that is being filled.
      this.#isTelling = true;
      queueMicrotask(() => {
        this.#isTelling = false;
        this.onRoom();
      });
    }
  }

  // ---- Answers of the bus

  /**
   * @param {Confirm} confirm of a frame
   */
  confirmed(confirm) {
    const { topic, about: last } = confirm;
    const sent = this.#topics.get(topic)?.sent;
    while (sent && sent.length > 0 && /** @type {PublishFrame} */ (sent[0]).last <= last) {
      const frame = /** @type {PublishFrame} */ (sent.shift());
      if (frame.waiters) {
        this.#counters.confirmed += frame.count;
      }
      this.plainKnown(frame.plainUpTo);
      this.#settled(frame);
      frame.resolve(this.#producer, frame.last === last ? confirm : null);
    }
  }

  /**
   * @param {string} name of the topic
   * @param {number} first sequence
   * @param {EventBusError} error
   * @returns {boolean} whether a call waited for it
   */
  refused(name, first, error) {
    const sent = this.#topics.get(name)?.sent ?? [];
    const at = sent.findIndex(frame => frame.first === first);
    const [frame] = at < 0 ? [] : sent.splice(at, 1);
    if (!frame) {
      return false;
    }
    this.#settled(frame);
    const waited = frame.waiters?.some(waiter => waiter !== null) ?? false;
    frame.reject(error);
    return waited;
  }

  /** @param {PublishFrame} frame */
  #settled(frame) {
    frame.isSettled = true;
    this.#unconfirmed.delete(frame);
    this.#markers.delete(frame);
    this.#release(frame);
  }

  /** @param {number} upTo number of events without a waiter that have arrived */
  plainKnown(upTo) {
    this.#plainKnown = Math.max(this.#plainKnown, upTo);
  }

  /**
   * Schedules the check of events whose time to be confirmed has passed.
   * @param {number} delay ms
   */
  #expireIn(delay) {
    this.#expiring = this.#env.setTimeout(() => {
      this.#expiring = null;
      const { confirmTimeout } = this.#settings;
      this.#expire(this.#env.now() - confirmTimeout + EARLY);
      const oldest = this.#oldest();
      if (oldest !== null) {
        this.#expireIn(Math.max(MIN_WAIT, confirmTimeout / 1000, oldest + confirmTimeout - this.#env.now()));
      }
    }, delay);
  }

  /** @returns {number | null} the time at which the oldest event with a waiter was published, in ms */
  #oldest() {
    const isAwaited = (/** @type {PublishFrame | Control} */ item) => !('control' in item) && item.waiters !== null;
    const [sent] = this.#unconfirmed;
    const frames = /** @type {(PublishFrame | undefined)[]} */ ([sent, this.#queue.find(isAwaited), [...this.#open].find(isAwaited)]);
    return frames.reduce((oldest, frame) => frame ? Math.min(oldest ?? Infinity, frame.born) : oldest, /** @type {number | null} */ (null));
  }

  /**
   * Fails events that have waited too long. Sent ones are not sent again over this connection, unsent ones are withdrawn.
   * @param {number} bornBefore in ms
   */
  #expire(bornBefore) {
    const { confirmTimeout } = this.#settings;
    const error = new EventBusError('TIMED_OUT', `no confirmation within ${confirmTimeout} ms`);
    const unsent = new EventBusError('TIMED_OUT', `${error.message}: the event was not sent, and will not be`);
    for (const frame of this.#unconfirmed) {
      if (frame.born > bornBefore) {
        break;
      }
      const at = frame.topic.sent.indexOf(frame);
      if (at >= 0) {
        frame.topic.sent.splice(at, 1);
      }
      this.#settled(frame);
      frame.reject(error);
    }
    /** @type {Map<OutTopic, number>} first free number of each topic */
    const free = new Map();
    const stays = (/** @type {PublishFrame | Control} */ item) => {
      if ('control' in item || !item.waiters || item.born > bornBefore) {
        return true;
      }
      if (item.isSent) {
        // Sent before: its number may be known to subscribers.
        item.reject(error);
        return true;
      }
      free.set(item.topic, Math.min(item.first, free.get(item.topic) ?? Infinity));
      item.reject(unsent);
      this.#release(item);
      return false;
    };
    this.#queue.keep(stays);
    for (const frame of this.#open) {
      if (!stays(frame)) {
        this.#close(frame);
      }
    }
    if (free.size > 0) {
      this.#moveUp(free);
    }
  }

  /**
   * Renumbers the unsent events behind withdrawn ones.
   * @param {Map<OutTopic, number>} free first free number of each topic
   */
  #moveUp(free) {
    const moveUp = (/** @type {PublishFrame | Control} */ item) => {
      const next = 'control' in item ? undefined : free.get(item.topic);
      if (next !== undefined && !('control' in item) && item.first > next) {
        item.first = next;
        free.set(item.topic, next + item.count);
      }
    };
    this.#queue.forEach(moveUp);
    this.#open.forEach(moveUp);
    free.forEach((next, topic) => { topic.next = next; });
  }

  // ---- Connections

  /**
   * Begins to send over a new connection, which a bus has welcomed.
   * @param {Channel} channel
   * @param {Welcome} welcome
   * @returns {number} number of events of `send` that this bus does not accept
   */
  connected(channel, { producer, limits, durable }) {
    const before = this.limits;
    const now = this.limits = usable(limits);
    const takesLess = before && (!fits(before, now) || (this.isDurable && !durable));
    this.isDurable = durable;
    const refused = takesLess ? this.#splitBatches(now) : 0;
    if (this.#producer !== 0n && this.#producer !== producer) {
      this.#startAgain();
    }
    this.#producer = producer;
    this.use(channel);
    return refused;
  }

  /**
   * Sends events over this connection.
   * @param {Channel} channel
   */
  use(channel) {
    this.#channel = channel;
    this.#isPaused = false;
    this.#poll = MIN_POLL;
    this.#schedule();
  }

  /** Pauses events, because the client is about to leave its bus. */
  pause() {
    this.#isPaused = true;
  }

  /** Resumes events, because the client stays. */
  stay() {
    this.#isPaused = false;
    this.#schedule();
  }

  /**
   * Continues at the new bus: the old one has delivered all events that it received.
   * @param {Channel} channel to the new bus
   * @param {Welcome} welcome of the new bus
   */
  moved(channel, { limits, durable }) {
    this.limits = usable(limits);
    this.isDurable = durable;
    this.plainKnown(this.#plainSent);
    // Empty, unless the bus owes answers.
    this.#requeue();
    this.use(channel);
  }

  /** @returns {number} number of events without a waiter that may or may not have arrived */
  disconnected() {
    this.#channel = null;
    this.#isPaused = false;
    if (this.#pollTimer !== null) {
      this.#env.clearTimeout(/** @type {never} */ (this.#pollTimer));
      this.#pollTimer = null;
    }
    this.#queue.keep(item => !('control' in item));
    this.#requeue();
    const unknown = this.#plainSent - this.#plainKnown;
    this.#plainKnown = this.#plainSent;
    this.#counters.indeterminate += unknown;
    return unknown;
  }

  /** Puts unconfirmed frames back to the front of the queue. */
  #requeue() {
    this.#unmarked = 0;
    for (const frame of [...this.#markers, ...this.#unconfirmed]) {
      frame.topic.sent = [];
    }
    this.#queue.unshift([...this.#unconfirmed]);
    this.#unconfirmed.clear();
    this.#markers.clear();
  }

  /** Renumbers all topics from 1, because the bus knows this client by a new producer number. */
  #startAgain() {
    this.#forgotten.clear();
    for (const topic of this.#topics.values()) {
      topic.next = 1;
    }
    const renumber = (/** @type {PublishFrame | Control} */ item) => {
      if (!('control' in item)) {
        item.first = item.topic.next;
        item.topic.next += item.count;
      }
    };
    this.#queue.forEach(renumber);
    this.#open.forEach(renumber);
  }

  /**
   * @param {Limits} limits of a bus, smaller than those before
   * @returns {number} number of events without a waiter that it does not accept
   */
  #splitBatches(limits) {
    this.#sealAll();
    let refused = 0;
    /** @type {(PublishFrame | Control)[]} */
    const again = [];
    this.#queue.forEach(item => {
      if ('control' in item) {
        again.push(item);
        return;
      }
      const cut = splitBatch(item, limits, this.#batchBytes, this.isDurable);
      refused += cut.refused;
      for (const frame of cut.frames) {
        again.push(frame);
        this.#used += frame.cost;
      }
      this.#release(item);
    });
    this.#queue.clear();
    this.#queue.unshift(again);
    return refused;
  }

  /**
   * Rejects all waiters and drops everything, because the client has ended.
   * @param {EventBusError} sent error of events that may have been delivered
   * @param {EventBusError} unsent error of the others
   * @returns {number} number of events of `send` that were not sent
   */
  abandon(sent, unsent) {
    this.disconnected();
    this.#env.clearTimeout(/** @type {never} */ (this.#expiring));
    this.#sealAll();
    let plain = 0;
    this.#queue.forEach(item => {
      if (!('control' in item)) {
        plain += item.waiters ? 0 : item.count;
        item.reject(item.isSent ? sent : unsent);
      }
    });
    this.#queue.clear();
    this.#used = 0;
    return plain;
  }
}
