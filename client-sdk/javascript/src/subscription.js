import { deferred } from './deferred.js';
import { EventBusError } from './errors.js';
import { Fifo } from './fifo.js';
import { INSPECT, shownAs } from './inspect.js';
import { refuseUnknown } from './options.js';
import { matcher } from './topics.js';
import { encodeId, encodeSubscribe } from './wire/frames.js';
import * as TYPE from './wire/type.js';

/** @import {BusEvent} from './event.js' */
/** @import {SubscriptionSettings} from './internal.js' */
/** @import {Gap, Handler, Interruption, SubscriptionCounters} from './types.js' */

/**
 * Queue entry: waiting events of a `Deliver`, or a notice between events.
 *
 * @typedef {object} Entry
 * @property {BusEvent[]} events empty for a notice
 * @property {number} next index of the first event that was not delivered
 * @property {number} bytes of the events
 * @property {() => void} done called when all are handled
 * @property {Notice | null} notice
 *
 * @typedef {object} Notice
 * @property {(value: never) => void | Promise<void>} call `onGap` or `onInterruption`
 * @property {Gap | Interruption} value its argument
 * @property {number} madeAt in µs since 1970
 */

/**
 * The parts of its client that a subscription uses.
 *
 * @typedef {object} SubscriptionHome
 * @property {() => number} micros since 1970
 * @property {import('./credit.js').Window} window of the client
 * @property {(gap: Gap) => void} dropped reports a gap, because the buffer had no room
 * @property {(task: () => void) => () => void} later runs it after `closeTimeout`; returns its cancellation
 * @property {(subscription: Subscription) => void} unsubscribe asks the bus to end it
 * @property {(error: unknown, event: BusEvent | null) => void} failed reports a failed handler
 * @property {(error: EventBusError) => void} problem reports a refusal that no call waits for
 * @property {(subscription: Subscription, interruption: Interruption) => void} interrupted reports an interruption; `pump` has to follow
 */

// Maximum bytes of one turn beyond a buffer's bound, because its reader has had no turn yet.
const MAX_OF_A_TURN = 8 * 2 ** 20;
// Bytes of memory that an event takes beside its own.
const AROUND_EVENT = 128;
// Maximum of waiting gaps; more are reported as one interruption.
const MAX_GAPS = 1000;
/** @type {BusEvent[]} */
const NONE = [];
const nothing = () => {};
/** @type {IteratorReturnResult<undefined>} */
const OVER = Object.freeze({ value: undefined, done: true });

/**
 * A subscription. Its events go to its handler, or to one reader: `for await (const event of subscription)` or
 * `for await (const events of subscription.batches())`, which is cheaper. Unread events wait in its buffer of `bufferBytes`, above which its policy
 * acts; under `BLOCK` a full buffer stalls all deliveries of the client: read it, or end it.
 * @template [T=unknown] what its codec reads
 */
export class Subscription {
  /** @internal */
  codec;
  /**
   * Returns whether the filter selects a topic.
   * @internal
   */
  matches;
  /**
   * Set once a bus has confirmed it.
   * @internal
   */
  isConfirmed = false;
  // Entry being delivered.
  /** @type {Entry | null} */
  #current = null;
  /** @type {Fifo<Entry>} */
  #queue = new Fifo();
  // Last entry of the queue, if it is a notice.
  /** @type {Notice | null} */
  #lastNotice = null;
  #gaps = 0;
  #buffered = 0;
  // Entries whose events the reader has; they count as handled when it asks for more.
  /** @type {Entry[]} */
  #taken = [];
  #handler;
  #onGap;
  #onInterruption;
  #home;
  #busy = false;
  // Set when nothing more comes from the bus.
  #isEnded = false;
  // Set when nothing more is delivered.
  #isDiscarded = false;
  /** @type {unknown} error of the reader at the end; undefined for none */
  #failure;
  /** @type {{resolve: (result: IteratorResult<never, undefined>) => void, reject: (error: unknown) => void, max: number} | null} */
  #reader = null;
  #isRead = false;
  #isAwaited = false;
  // Set while the handler is being called, until it returns.
  #isCalling = false;
  #isAwaitedToEnd = false;
  #cancelTimeout = nothing;
  #drained = /** @type {PromiseWithResolvers<void>} */ (deferred());
  #ready = /** @type {PromiseWithResolvers<this>} */ (deferred());
  #finished = /** @type {PromiseWithResolvers<void>} */ (deferred());
  #counts = { received: 0, duplicates: 0, missing: 0, interruptions: 0, failed: 0 };
  /** @type {() => void} */
  #release = () => {};

  /**
   * Made by the client.
   * @param {number} id
   * @param {string} filter
   * @param {SubscriptionSettings} settings
   * @param {Handler | undefined} handler
   * @param {SubscriptionHome} home
   * @internal
   */
  constructor(id, filter, { group, overflow, bufferBytes, codec, signal, onGap, onInterruption }, handler, home) {
    /** @readonly */
    this.id = id;
    /** @readonly */
    this.filter = filter;
    /** @readonly */
    this.group = group;
    /** @readonly */
    this.overflow = overflow;
    /** @readonly */
    this.bufferBytes = bufferBytes;
    this.codec = codec;
    this.matches = matcher(filter);
    this.#handler = handler;
    this.#onGap = onGap;
    this.#onInterruption = onInterruption;
    this.#home = home;
    if (signal) {
      const abort = () => this.#abort(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#release = () => signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Resolves when the subscription is in force; rejects with REFUSED, with CLOSED when it has ended before, or with the signal's reason.
   * While there is no connection it waits for one.
   * @returns {Promise<this>} itself
   */
  get ready() {
    this.#isAwaited = true;
    return this.#ready.promise;
  }

  /** @returns {SubscriptionCounters} figures since the beginning */
  counters() {
    let queued = this.#current ? this.#current.events.length - this.#current.next : 0;
    this.#queue.forEach(entry => { queued += entry.events.length; });
    return { ...this.#counts, queued };
  }

  /**
   * Ends the subscription. Events under way are still delivered.
   * @returns {Promise<void>} resolves when nothing more comes from the bus and the handler has handled everything. A call inside of the handler
   *   (before its first `await`) does not wait for the handler. Rejects with TIMED_OUT where the handler then works on one event for longer than
   *   `closeTimeout`
   */
  unsubscribe() {
    this.#home.unsubscribe(this);
    this.#isAwaitedToEnd ||= !this.#isCalling;
    this.#limitHandler();
    return this.#isCalling ? this.#drained.promise : this.#finished.promise;
  }

  /** Starts the timeout of waiting `unsubscribe` calls: the handler at work may itself wait for one of them. */
  #limitHandler() {
    this.#cancelTimeout();
    this.#cancelTimeout = nothing;
    if (this.#isEnded && this.#busy && this.#isAwaitedToEnd) {
      const what = `unsubscribe: the handler of ${this} is still at work after closeTimeout (expected: not awaited inside of the handler)`;
      this.#cancelTimeout = this.#home.later(() => this.#finished.reject(new EventBusError('TIMED_OUT', what)));
    }
  }

  /**
   * The same as `unsubscribe`, for `await using`.
   * @returns {Promise<void>}
   */
  [Symbol.asyncDispose]() {
    return this.unsubscribe();
  }

  /**
   * Returns an iterator of single events. An event counts as handled when the next one is asked for, or when the loop is left. Another loop continues
   * where this one was left: to end the subscription, unsubscribe. There can be one reader at a time.
   * @returns {AsyncIterableIterator<BusEvent<T>, undefined>}
   */
  [Symbol.asyncIterator]() {
    return /** @type {AsyncIterableIterator<BusEvent<T>, undefined>} */ (this.#iterate(0));
  }

  /**
   * Returns an iterator of arrays of the available events, at least one each: several times cheaper than single events. `onGap` and `onInterruption`
   * are called between them.
   * @param {{max?: number}} [options] maximum of events of an array, default 1,000
   * @returns {AsyncIterableIterator<BusEvent<T>[], undefined>}
   */
  batches(options = {}) {
    refuseUnknown(options, ['max'], '');
    const { max = 1000 } = options;
    if (!(max >= 1)) {
      throw new RangeError(`max: ${max} (expected: at least 1)`);
    }
    return /** @type {AsyncIterableIterator<BusEvent<T>[], undefined>} */ (this.#iterate(Math.floor(max)));
  }

  /**
   * @param {number} max events of an array; 0 for single ones
   * @returns {AsyncIterableIterator<unknown, undefined>}
   */
  #iterate(max) {
    if (this.#handler || this.#isRead) {
      throw new TypeError(`subscription to ${this.filter}: ${this.#handler ? 'has a handler' : 'iterated already'} (expected: one reader)`);
    }
    this.#isRead = true;
    let isLeft = false;
    const iterator = {
      next: () => isLeft ? Promise.resolve(OVER) : this.#next(max),
      return: () => {
        if (!isLeft) {
          isLeft = true;
          this.#leave();
        }
        return Promise.resolve(OVER);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return /** @type {AsyncIterableIterator<unknown, undefined>} */ (iterator);
  }

  /** Ends the reader; another one may follow. */
  #leave() {
    this.#isRead = false;
    this.#finishTaken();
    this.#reader?.resolve(OVER);
    this.#reader = null;
    if (this.#isEnded) {
      this.discard();
    }
  }

  /**
   * @param {number} max
   * @returns {Promise<IteratorResult<unknown, undefined>>}
   */
  #next(max) {
    if (this.#reader || this.#busy) {
      return Promise.reject(new TypeError(`subscription to ${this.filter}: next() before the last one was answered (expected: one at a time)`));
    }
    this.#finishTaken();
    return this.#advance(max);
  }

  /**
   * @param {number} max
   * @returns {Promise<IteratorResult<unknown, undefined>>}
   */
  async #advance(max) {
    for (let entry = this.#front(); entry?.notice; entry = this.#front()) {
      this.#current = null;
      this.#busy = true;
      try {
        await this.#call(entry.notice);
      } catch (thrown) {
        this.#failed(thrown, null);
      }
      this.#busy = false;
    }
    const value = this.#take(max);
    if (value !== undefined) {
      return { value, done: false };
    }
    if (this.#isEnded || this.#isDiscarded) {
      return this.#end();
    }
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject, max };
    });
  }

  /** @returns {Promise<IteratorResult<never, undefined>>} */
  #end() {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(failure);
  }

  #finishTaken() {
    if (this.#taken.length > 0) {
      const taken = this.#taken;
      this.#taken = [];
      taken.forEach(entry => this.#finish(entry));
    }
  }

  /** @param {Entry} entry that is handled */
  #finish(entry) {
    this.#count(-entry.bytes);
    entry.done();
  }

  /** @param {number} bytes added to those that wait; negative for fewer */
  #count(bytes) {
    this.#buffered += bytes;
    if (!this.isBlocking) {
      this.#home.window.buffered += bytes;
    }
  }

  /** @returns {Entry | null} the entry being delivered; null for none */
  #front() {
    if (!this.#current) {
      const next = this.#queue.first;
      if (next) {
        this.#queue.shift();
        this.#current = next;
        if (next.notice) {
          this.#gaps -= next.notice.call === this.#onGap ? 1 : 0;
          this.#lastNotice = next.notice === this.#lastNotice ? null : this.#lastNotice;
        }
      }
    }
    return this.#current;
  }

  /** @param {number} max */
  #take(max) {
    let entry = this.#front();
    if (!entry) {
      return undefined;
    }
    if (max === 0) {
      const event = /** @type {BusEvent} */ (entry.events[entry.next++]);
      if (entry.next === entry.events.length) {
        this.#current = null;
        this.#taken.push(entry);
      }
      return event;
    }
    /** @type {BusEvent[]} */
    let batch = [];
    while (entry && !entry.notice && batch.length < max) {
      const { events, next } = entry;
      const to = Math.min(events.length, next + max - batch.length);
      const part = next === 0 && to === events.length ? events : events.slice(next, to);
      batch = batch.length === 0 ? part : batch.concat(part);
      entry.next = to;
      if (to < events.length) {
        break;
      }
      this.#current = null;
      this.#taken.push(entry);
      entry = this.#front();
    }
    return batch;
  }

  // ---- Input, from the client

  /**
   * @param {Entry} entry at least one event; `pump` has to follow
   * @internal
   */
  arrive(entry) {
    this.#counts.received += entry.events.length;
    if (this.#isDiscarded) {
      entry.done();
    } else {
      this.#count(entry.bytes);
      this.#push(entry);
    }
  }

  /** @param {Entry} entry */
  #push(entry) {
    this.#queue.push(entry);
    this.#lastNotice = entry.notice;
  }

  /**
   * @param {number} events that were duplicates
   * @internal
   */
  repeated(events) {
    this.#counts.duplicates += events;
  }

  /**
   * Queues a notice of missing events; `pump` has to follow.
   * @param {Gap} gap
   * @internal
   */
  missed(gap) {
    this.#counts.missing += gap.to - gap.from + 1;
    if (this.#onGap && !this.#isDiscarded) {
      const last = this.#lastNotice;
      const before = last?.call === this.#onGap ? /** @type {Gap} */ (last.value) : null;
      if (last && before && before.topic === gap.topic && before.producer === gap.producer && before.reason === gap.reason && before.to + 1 === gap.from) {
        last.value = { ...before, to: gap.to };
      } else {
        this.#notice(this.#onGap, gap);
        if (++this.#gaps > MAX_GAPS) {
          this.#summarize();
        }
      }
    }
  }

  /**
   * Queues a notice of an interruption, because a bus has confirmed it again; `pump` has to follow.
   * @param {number} from start of the interruption, in µs since 1970
   * @internal
   */
  interrupted(from) {
    const interruption = { from, to: this.#home.micros() };
    this.#counts.interruptions++;
    if (this.#onInterruption && !this.#isDiscarded) {
      const last = this.#lastNotice;
      if (last?.call === this.#onInterruption) {
        last.value = { from: /** @type {Interruption} */ (last.value).from, to: interruption.to };
      } else {
        this.#notice(this.#onInterruption, interruption);
      }
    }
    this.#home.interrupted(this, interruption);
  }

  /**
   * @param {Notice['call']} call
   * @param {Gap | Interruption} value
   */
  #notice(call, value) {
    this.#push({ events: NONE, next: 0, bytes: 0, done: nothing, notice: { call, value, madeAt: this.#home.micros() } });
  }

  /** Replaces the waiting gaps by one interruption over their time, because there are too many. */
  #summarize() {
    const onGap = this.#onGap;
    let from = 0;
    this.#queue.keep(({ notice }) => {
      if (notice?.call !== onGap) {
        return true;
      }
      from ||= /** @type {Notice} */ (notice).madeAt;
      return false;
    });
    this.#gaps = 0;
    this.#lastNotice = null;
    this.interrupted(from);
  }

  // ---- Buffer

  /**
   * @returns {boolean} whether waiting events stall the bus instead of making room
   * @internal
   */
  get isBlocking() {
    return this.overflow === 'BLOCK';
  }

  /**
   * @returns {boolean} whether the buffer is over its bound
   * @internal
   */
  get isFull() {
    return this.#buffered > this.bufferBytes;
  }

  /**
   * @returns {boolean} whether the buffer is over its bound by more than one turn may bring
   * @internal
   */
  get isOverrun() {
    return this.#buffered > this.bufferBytes + MAX_OF_A_TURN;
  }

  /**
   * @returns {number} bytes that wait
   * @internal
   */
  get buffered() {
    return this.#buffered;
  }

  /**
   * @returns {boolean} whether there is a handler or a reader
   * @internal
   */
  get isTaken() {
    return this.#handler !== undefined || this.#isRead;
  }

  /**
   * Drops events by its policy; `pump` has to follow. Events being handled and the last one stay.
   * @param {number} max bytes that may stay
   * @internal
   */
  makeRoom(max) {
    /** @type {Entry[]} */
    const all = [];
    this.#queue.forEach(entry => void all.push(entry));
    this.#queue.clear();
    this.#lastNotice = null;
    this.#gaps = 0;
    const newest = all.findLastIndex(entry => !entry.notice);
    const dropped = this.overflow === 'CONFLATE' ? conflated(all) : new Set();
    // Reduces to three quarters, so that not each new event starts the whole search again.
    const target = 0.75 * max;
    /** @type {Map<string, Notice>} */
    const notices = new Map();
    const conflatedBytes = all.map(entry => dropped.size === 0 ? entry.bytes : bytesLeft(entry, dropped));
    let left = this.#buffered - all.reduce((sum, entry, i) => sum + entry.bytes - /** @type {number} */ (conflatedBytes[i]), 0);
    all.forEach((entry, i) => {
      if (entry.notice) {
        this.#again(entry, entry.notice, notices);
        return;
      }
      const isOldest = left > target && i < newest;
      left -= isOldest ? /** @type {number} */ (conflatedBytes[i]) : 0;
      /** @type {BusEvent[]} */
      const kept = [];
      /** @type {Gap | null} */
      let gap = null;
      for (const event of entry.events) {
        const isReplaced = dropped.has(event);
        const reason = isReplaced ? 'BUFFER_CONFLATED' : isOldest ? 'BUFFER_FULL' : null;
        const { topic, producer, number } = event.place;
        if (gap && gap.reason === reason) {
          gap.to = number;
          continue;
        }
        if (gap) {
          this.#drop(gap, notices);
          gap = null;
        }
        if (reason) {
          gap = { topic, producer, from: number, to: number, reason, filter: this.filter };
        } else {
          kept.push(event);
        }
      }
      if (gap) {
        this.#drop(gap, notices);
      }
      this.#keep(entry, kept, /** @type {number} */ (conflatedBytes[i]));
    });
  }

  /**
   * @param {Entry} entry that waits
   * @param {Notice} notice
   * @param {Map<string, Notice>} notices
   */
  #again(entry, notice, notices) {
    if (notice.call === this.#onGap) {
      this.#gaps++;
      notices.set(keyOf(/** @type {Gap} */ (notice.value)), notice);
    }
    this.#push(entry);
  }

  /**
   * @param {Gap} gap
   * @param {Map<string, Notice>} notices waiting gaps, by stream and reason
   */
  #drop(gap, notices) {
    this.#counts.missing += gap.to - gap.from + 1;
    this.#home.dropped(gap);
    const key = keyOf(gap);
    const notice = notices.get(key);
    if (notice && /** @type {Gap} */ (notice.value).to === gap.from - 1) {
      notice.value = { .../** @type {Gap} */ (notice.value), to: gap.to };
    } else if (this.#onGap) {
      this.#notice(this.#onGap, gap);
      this.#gaps++;
      notices.set(key, /** @type {Notice} */ (/** @type {unknown} */ (this.#lastNotice)));
    }
  }

  /**
   * @param {Entry} entry
   * @param {BusEvent[]} kept of its events
   * @param {number} bytes that these take
   */
  #keep(entry, kept, bytes) {
    if (kept.length === entry.events.length) {
      this.#push(entry);
      return;
    }
    this.#finish(entry);
    if (kept.length > 0) {
      // Copied, or the whole message would stay.
      this.#count(bytes);
      this.#push({ events: kept.map(event => event.detached()), next: 0, bytes, done: nothing, notice: null });
    }
  }

  /**
   * Delivers waiting events, as far as the application takes them.
   * @internal
   */
  pump() {
    if (this.#handler) {
      this.#handle(this.#handler);
    } else if (this.#reader) {
      const { resolve, reject, max } = this.#reader;
      const entry = this.#front();
      if (entry) {
        this.#reader = null;
        if (entry.notice) {
          this.#advance(max).then(/** @type {(result: unknown) => void} */ (resolve), reject);
        } else {
          resolve(/** @type {never} */ ({ value: this.#take(max), done: false }));
        }
      }
    }
    this.#settle();
  }

  /** @param {Handler} handler */
  #handle(handler) {
    if (this.#busy) {
      return;
    }
    this.#busy = true;
    for (let entry = this.#front(); entry; entry = this.#front()) {
      const { events, notice } = entry;
      if (notice) {
        this.#current = null;
        if (this.#run(() => this.#call(notice), /** @type {never} */ (null), null)) {
          return;
        }
        continue;
      }
      while (entry.next < events.length && !this.#isDiscarded) {
        const event = /** @type {BusEvent} */ (events[entry.next++]);
        if (this.#run(handler, event, event)) {
          return;
        }
      }
      if (entry === this.#current) {
        this.#current = null;
        this.#finish(entry);
      }
    }
    this.#busy = false;
  }

  /**
   * @param {Handler} handler
   * @param {BusEvent} argument
   * @param {BusEvent | null} event to report with a failure
   * @returns {boolean} whether the handler has to be awaited
   */
  #run(handler, argument, event) {
    try {
      this.#isCalling = true;
      const promise = handler(argument);
      this.#isCalling = false;
      if (promise !== undefined && typeof promise?.then === 'function') {
        promise.then(() => this.#goOn(), thrown => {
          this.#failed(thrown, event);
          this.#goOn();
        });
        return true;
      }
    } catch (thrown) {
      this.#isCalling = false;
      this.#failed(thrown, event);
    }
    return false;
  }

  /** @param {Notice} notice */
  #call({ call, value }) {
    return call(/** @type {never} */ (value));
  }

  #goOn() {
    this.#busy = false;
    this.pump();
    this.#limitHandler();
  }

  /**
   * @param {unknown} thrown
   * @param {BusEvent | null} event
   */
  #failed(thrown, event) {
    this.#counts.failed++;
    this.#home.failed(thrown, event);
  }

  /**
   * Records the confirmation of a bus.
   * @internal
   */
  confirm() {
    this.isConfirmed = true;
    this.#ready.resolve(this);
  }

  /**
   * Records that nothing more comes from the bus; waiting events are still handled.
   * @param {EventBusError | null} failure why, if not because the application wanted it
   * @internal
   */
  end(failure) {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#drained.resolve();
    this.#release();
    this.#failure ??= failure ?? undefined;
    this.#ready.reject(failure ?? this.#closed());
    // After a new token the bus may refuse a subscription that it has confirmed, and no call awaits that.
    if (failure?.code === 'REFUSED' && (this.isConfirmed || !this.#isAwaited) && !this.#isRead) {
      this.#home.problem(failure);
    }
    if (!this.#handler && !this.#isRead) {
      // Without a reader the waiting events would use up the window for ever.
      this.discard();
    }
    this.#settle();
    this.#limitHandler();
  }

  /**
   * Drops the waiting events; they count as handled.
   * @internal
   */
  discard() {
    if (this.#isDiscarded) {
      return;
    }
    this.#isDiscarded = true;
    this.#release();
    this.#ready.reject(this.#closed());
    this.#finishTaken();
    if (this.#current) {
      this.#finish(this.#current);
    }
    this.#current = null;
    this.#queue.forEach(entry => this.#finish(entry));
    this.#queue.clear();
    this.#lastNotice = null;
    this.#gaps = 0;
    this.#settle();
  }

  #closed() {
    return new EventBusError('CLOSED', `the subscription to ${this.filter} has ended`);
  }

  /** @param {unknown} reason */
  #abort(reason) {
    this.#failure = reason;
    this.#ready.reject(reason);
    this.discard();
    this.#home.unsubscribe(this);
  }

  /**
   * Tells whether no other client gets the events that a bus has sent for it.
   * @internal
   */
  get isExclusive() {
    return this.group !== null;
  }

  /**
   * Tells whether everything received was handled and nothing more comes.
   * @internal
   */
  get isFinished() {
    return this.#isEnded && !this.#busy && this.#isEmpty;
  }

  get #isEmpty() {
    return this.#current === null && this.#queue.size === 0;
  }

  #settle() {
    if (this.#isEnded && (!this.#handler || this.isFinished)) {
      this.#finished.resolve();
    }
    const reader = this.#reader;
    if (reader && this.#isEmpty && (this.#isEnded || this.#isDiscarded)) {
      this.#reader = null;
      this.#end().then(reader.resolve, reader.reject);
    }
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
    const { id, filter, group, overflow, isConfirmed } = this;
    return shownAs(this, { id, filter, group, overflow, isConfirmed, isEnded: this.#isEnded, counters: this.counters() }, options, inspect);
  }

  // ---- Frames for the bus

  /**
   * @returns {Uint8Array}
   * @internal
   */
  get beginFrame() {
    return encodeSubscribe(this.id, this.filter, this.group, this.overflow);
  }

  /**
   * @returns {Uint8Array}
   * @internal
   */
  get endFrame() {
    return encodeId(TYPE.UNSUBSCRIBE, this.id);
  }

  /** @returns {string} for people */
  toString() {
    return `subscription ${this.id} to ${this.filter}${this.group === null ? '' : ` in group ${this.group}`}`;
  }
}

/** @param {Gap} gap */
const keyOf = ({ topic, producer, reason }) => `${reason} ${producer} ${topic}`;

/**
 * @param {Entry[]} entries
 * @returns {Set<BusEvent>} events that a later one of their topic and key replaces
 */
function conflated(entries) {
  const seen = new Set();
  /** @type {Set<BusEvent>} */
  const replaced = new Set();
  for (const { events } of entries.toReversed()) {
    for (let i = events.length - 1; i >= 0; i--) {
      const event = /** @type {BusEvent} */ (events[i]);
      const { key } = event;
      const stream = key === null ? event.topic : `${event.topic} ${key}`;
      if (seen.has(stream)) {
        replaced.add(event);
      }
      seen.add(stream);
    }
  }
  return replaced;
}

/**
 * @param {Entry} entry
 * @param {Set<BusEvent>} dropped
 */
function bytesLeft({ events, bytes }, dropped) {
  const kept = events.filter(event => !dropped.has(event));
  return kept.length === events.length ? bytes : kept.reduce((sum, event) => sum + event.size + AROUND_EVENT, 0);
}
