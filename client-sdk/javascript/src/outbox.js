import { encodeEvent, estimate } from './encoder.js';
import { EventBusError } from './errors.js';
import { ForgottenTopics } from './forgotten-topics.js';
import { PublishFrame } from './frame.js';
import { Fifo } from './fifo.js';
import { AROUND_EVENT, fits, splitBatch, usable } from './batch-splitter.js';
import { checkTopic } from './topics.js';
import { utf8 } from './wire/bytes.js';

/** @import {OutTopic, Waiter} from './frame.js' */
/** @import {CallPort, Channel, Environment} from './internal.js' */
/** @import {Counters, Limits, SendOptions} from './types.js' */
/** @import {Settings} from './options.js' */

/**
 * Something beside events that goes to the bus in order: a `Subscribe`, an `Unsubscribe`, a `Barrier`.
 *
 * @typedef {object} Control
 * @property {Uint8Array} control the frame
 * @property {((plainSent: number) => void) | null} onSent of a barrier
 */

// Above this the network is behind: collect on, and look again.
const HIGH_WATER = 2 ** 20;
// After so many bytes that nobody waits for, one frame is confirmed.
const MARK_BYTES = 262_144;
// Timers may come so much early; and events that wait are looked at no more often, in ms.
const EARLY = 1;
const MIN_WAIT = 5;
const FIRST_LOOK = 4;
const LAST_LOOK = 50;
// Topics that are quiet, of which more is kept than their numbers; and those of which only these are.
const MAX_TOPICS = 50_000;
const MAX_FORGOTTEN = 500_000;

/**
 * The outbound buffer: numbers events, collects them in frames and messages, and keeps what is not confirmed. Bounded in bytes.
 *
 * A frame is open (one for each topic), then in the queue, then in `#unconfirmed` if somebody waits for it. When a connection is lost,
 * what is unconfirmed goes back to the front of the queue, in order, so that the order of each topic holds. A microtask at the end
 * of the turn seals what is open: one event waits for nothing, and a loop of a thousand sends makes one message.
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
  // The client is about to leave its bus: events wait.
  #isPaused = false;
  #isScheduled = false;
  // Whether what is open waits for longer than a turn.
  #isBehind = false;
  // Whether `onRoom` is about to be called.
  #isTelling = false;
  #look = FIRST_LOOK;
  /** @type {unknown} */
  #looking = null;
  /** @type {unknown} */
  #expiring = null;
  #used = 0;
  #capacity = 512;
  // Events without a waiter: sent, and known to have arrived; bytes since a frame that tells, and those that are under way.
  #plainSent = 0;
  #plainKnown = 0;
  #unmarked = 0;
  /** @type {Set<PublishFrame>} */
  #markers = new Set();
  #producer = 0n;
  /** Is called when the buffer has become smaller. */
  onRoom = () => {};

  /**
   * @param {Settings} settings
   * @param {Environment} env
   * @param {Counters} counters
   * @param {CallPort | null} calls whose requests take turns with events
   */
  constructor(settings, env, counters, calls = null) {
    this.#settings = settings;
    this.#env = env;
    this.#counters = counters;
    this.#calls = calls;
    /** @type {Limits | null} what the bus accepts */
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

  /** @returns {boolean} whether events were sent that may not have arrived */
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
   * Takes an event.
   * @param {string} name of the topic
   * @param {unknown} payload
   * @param {SendOptions} options
   * @param {Waiter | null} waiter null if nobody waits for the confirmation
   * @returns {{frame: PublishFrame, index: number} | null} where it is; null if the buffer is full
   */
  add(name, payload, options, waiter) {
    const topic = this.#topics.get(name) ?? this.#newTopic(name);
    const { outboundBytes } = this.#settings;
    const batchBytes = this.#batchBytes;
    const { event, max } = estimate(payload, options, this.limits, outboundBytes);
    if (this.#used + max + AROUND_EVENT > outboundBytes && this.#used > 0) {
      return null;
    }
    let frame = topic.open;
    if (frame && (frame.schema !== event.schema || (frame.waiters !== null) !== (waiter !== null) || frame.isFull
      || frame.size + max > batchBytes || (waiter && this.#isBehind && this.#env.now() - frame.born > MIN_WAIT))) {
      // One that waits is given up with those of its own time.
      this.#seal(frame);
      frame = null;
    }
    if (!frame) {
      frame = new PublishFrame(topic, topic.next, event.schema, waiter ? [] : null, Math.max(this.#capacity, max));
      frame.born = this.#env.now();
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
   * Sends something else behind the events that were published before.
   * @param {Uint8Array} control
   * @param {((plainSent: number) => void) | null} onSent
   */
  control(control, onSent = null) {
    this.#sealAll();
    this.#queue.push({ control, onSent });
    this.#schedule();
  }

  /**
   * Sends something at once, ahead of what waits; lost without a connection.
   * @param {Uint8Array} frame
   */
  sendNow(frame) {
    this.#channel?.send([frame]);
  }

  /** There is something to be sent: it is looked for at the end of the turn. */
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

  /** Sends what there is, as far as the network takes it. */
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

  /** @param {PublishFrame} frame that takes no more events */
  #close(frame) {
    frame.topic.open = null;
    this.#open.delete(frame);
    this.#openBytes -= frame.size;
  }

  /** @param {PublishFrame} frame */
  #seal(frame) {
    this.#close(frame);
    // The next one will be like this one.
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
    if (this.#channel && !this.#isPaused && (this.#queue.size > 0 || this.#open.size > 0 || this.#calls?.isWaiting) && this.#looking === null && !this.#mayWrite()) {
      this.#looking = this.#env.setTimeout(() => {
        this.#looking = null;
        this.#look = Math.min(LAST_LOOK, 2 * this.#look);
        this.flush();
      }, this.#look);
    }
  }

  /** @returns {boolean} whether there was a message of requests */
  #sendCalls() {
    const channel = /** @type {Channel} */ (this.#channel);
    const chunks = this.#calls?.take(channel, this.#batchBytes) ?? [];
    if (chunks.length > 0) {
      channel.send(chunks);
    }
    return chunks.length > 0;
  }

  /** One message. */
  #sendOne() {
    const batchBytes = this.#batchBytes;
    /** @type {Uint8Array[]} */
    const chunks = [];
    let bytes = 0;
    let events = 0;
    for (let next = this.#queue.first; next && (bytes === 0 || bytes + ('control' in next ? next.control.length : next.size + 300) <= batchBytes);
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
    this.#look = FIRST_LOOK;
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
        // Now and then one is confirmed, so that after a lost connection the number is small of which nothing is known.
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
      // Not at once: what is published then has to come behind what is being put into a message.
      this.#isTelling = true;
      queueMicrotask(() => {
        this.#isTelling = false;
        this.onRoom();
      });
    }
  }

  // ---- What the bus answers

  /**
   * @param {string} name of the topic
   * @param {number} last sequence
   * @param {number | undefined} receivers of the frame that ends with it, where the bus tells
   */
  confirmed(name, last, receivers) {
    const sent = this.#topics.get(name)?.sent;
    while (sent && sent.length > 0 && /** @type {PublishFrame} */ (sent[0]).last <= last) {
      const frame = /** @type {PublishFrame} */ (sent.shift());
      if (frame.waiters) {
        this.#counters.confirmed += frame.count;
      }
      this.plainKnown(frame.plainUpTo);
      this.#settled(frame);
      frame.resolve(this.#producer, frame.last === last ? receivers : undefined);
    }
  }

  /**
   * @param {string} name of the topic
   * @param {number} first sequence
   * @param {EventBusError} error
   * @returns {boolean} whether anybody waited for it
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

  /** @param {number} upTo as many events without a waiter have arrived */
  plainKnown(upTo) {
    this.#plainKnown = Math.max(this.#plainKnown, upTo);
  }

  /**
   * Looks when the oldest event that somebody waits for is due.
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

  /** @returns {number | null} when the oldest event was published that somebody waits for, in ms */
  #oldest() {
    const isAwaited = (/** @type {PublishFrame | Control} */ item) => !('control' in item) && item.waiters !== null;
    const [sent] = this.#unconfirmed;
    const frames = /** @type {(PublishFrame | undefined)[]} */ ([sent, this.#queue.find(isAwaited), [...this.#open].find(isAwaited)]);
    return frames.reduce((oldest, frame) => frame ? Math.min(oldest ?? Infinity, frame.born) : oldest, /** @type {number | null} */ (null));
  }

  /**
   * Fails those that have waited too long. What was sent is not sent again over this connection; what was not is withdrawn.
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
    /** @type {Map<OutTopic, number>} the first number that is free again */
    const free = new Map();
    const stays = (/** @type {PublishFrame | Control} */ item) => {
      if ('control' in item || !item.waiters || item.born > bornBefore) {
        return true;
      }
      if (item.isSent) {
        // Its number may be known to others.
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
   * Events behind those that were withdrawn take their numbers; none of them was sent.
   * @param {Map<OutTopic, number>} free the first number of each topic that is free
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
   * A bus has welcomed this client.
   * @param {Channel} channel
   * @param {bigint} producer
   * @param {Limits} limits
   * @returns {number} events that `send` took and that this bus does not take
   */
  connected(channel, producer, limits) {
    const before = this.limits;
    const now = this.limits = usable(limits);
    const refused = before && !fits(before, now) ? this.#splitBatches(now) : 0;
    if (this.#producer !== 0n && this.#producer !== producer) {
      this.#startAgain();
    }
    this.#producer = producer;
    this.use(channel);
    return refused;
  }

  /**
   * Events go out over this connection.
   * @param {Channel} channel
   */
  use(channel) {
    this.#channel = channel;
    this.#isPaused = false;
    this.#look = FIRST_LOOK;
    this.#schedule();
  }

  /** Events wait, because the client is about to leave its bus. */
  pause() {
    this.#isPaused = true;
  }

  /** The client does not leave. */
  stay() {
    this.#isPaused = false;
    this.#schedule();
  }

  /**
   * The client has left a bus that has handed on all that it got.
   * @param {Channel} channel to the new one
   * @param {Limits} limits of the new one
   */
  moved(channel, limits) {
    this.limits = usable(limits);
    this.plainKnown(this.#plainSent);
    // Nothing, unless the bus has not answered what it should have.
    this.#requeue();
    this.use(channel);
  }

  /** @returns {number} how many events that nobody waits for may or may not have arrived */
  disconnected() {
    this.#channel = null;
    this.#isPaused = false;
    if (this.#looking !== null) {
      this.#env.clearTimeout(/** @type {never} */ (this.#looking));
      this.#looking = null;
    }
    this.#queue.keep(item => !('control' in item));
    this.#requeue();
    const unknown = this.#plainSent - this.#plainKnown;
    this.#plainKnown = this.#plainSent;
    this.#counters.indeterminate += unknown;
    return unknown;
  }

  /** What is unconfirmed is sent again, before all else. */
  #requeue() {
    this.#unmarked = 0;
    for (const frame of [...this.#markers, ...this.#unconfirmed]) {
      frame.topic.sent = [];
    }
    this.#queue.unshift([...this.#unconfirmed]);
    this.#unconfirmed.clear();
    this.#markers.clear();
  }

  /** The bus knows this client by a new number: every topic starts again at 1. */
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
   * @param {Limits} limits of a bus that takes less
   * @returns {number} events that nobody waits for and that it does not take
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
      const cut = splitBatch(item, limits, this.#batchBytes);
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
   * The client has ended: everybody who waits is told, and nothing is kept.
   * @param {EventBusError} sent of what may have been delivered
   * @param {EventBusError} unsent of what was not
   * @returns {number} events that `send` took and that were not sent
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
