import { deferred } from './deferred.js';
import { EventBusError } from './errors.js';
import { matcher } from './topics.js';
import { encodeId, encodeSubscribe } from './wire/frames.js';
import * as TYPE from './wire/type.js';

/** @import {BusEvent} from './event.js' */
/** @import {Decoder, Handler, Overflow, SubscriptionCounters} from './types.js' */

/**
 * Events of one `Deliver` that wait.
 *
 * @typedef {object} Entry
 * @property {BusEvent[]} events
 * @property {number} next index of the first that was not handed on
 * @property {() => void} done is called when all are handled
 */

/**
 * What a subscription needs of its client.
 *
 * @typedef {object} SubscriptionHome
 * @property {(subscription: Subscription) => void} unsubscribe asks the bus for its end
 * @property {(error: unknown, event: BusEvent) => void} failed a handler has failed
 * @property {(error: EventBusError) => void} problem nobody waited for what was refused
 */

/**
 * A subscription. Its events go to its handler, or to one reader: `for await (const event of subscription)` or
 * `for await (const events of subscription.batches())`, which is cheaper. What is not read counts as not handled, and in the end holds
 * back all deliveries of the client: read it, or end it.
 */
export class Subscription {
  /** @type {Entry[]} */
  #queue = [];
  #head = 0;
  // Entries whose events the reader has and that count as handled when it asks for more.
  /** @type {Entry[]} */
  #taken = [];
  #handler;
  #home;
  #busy = false;
  // Nothing more comes from the bus.
  #isEnded = false;
  // Nothing more is handed on.
  #isDiscarded = false;
  /** @type {unknown} what a reader fails with at the end; undefined for nothing */
  #failure;
  /** @type {{resolve: (result: IteratorResult<never, undefined>) => void, reject: (error: unknown) => void, most: number} | null} */
  #reader = null;
  #isRead = false;
  #isAwaited = false;
  #ready = /** @type {PromiseWithResolvers<this>} */ (deferred());
  #finished = /** @type {PromiseWithResolvers<void>} */ (deferred());
  #counts = { received: 0, duplicates: 0, missing: 0, failed: 0 };
  /** @type {() => void} */
  #release = () => {};

  /**
   * Made by the client.
   * @param {number} id
   * @param {string} filter
   * @param {{group: string | null, overflow: Overflow, codec: Decoder | null, signal: AbortSignal | undefined}} options
   * @param {Handler | undefined} handler
   * @param {SubscriptionHome} home
   */
  constructor(id, filter, { group, overflow, codec, signal }, handler, home) {
    /** @readonly */
    this.id = id;
    /** @readonly */
    this.filter = filter;
    /** @readonly */
    this.group = group;
    /** @readonly */
    this.overflow = overflow;
    /** @readonly */
    this.codec = codec;
    /**
     * Whether the topic is one of this subscription's.
     * @readonly
     */
    this.matches = matcher(filter);
    /** Whether the bus has confirmed it on the connection that is there. */
    this.isConfirmed = false;
    this.#handler = handler;
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

  /** @returns {SubscriptionCounters} what has come until now */
  counters() {
    let queued = 0;
    for (let i = this.#head; i < this.#queue.length; i++) {
      const entry = /** @type {Entry} */ (this.#queue[i]);
      queued += entry.events.length - entry.next;
    }
    return { ...this.#counts, queued };
  }

  /**
   * Ends the subscription. What is under way still comes.
   * @returns {Promise<void>} resolves when nothing more comes from the bus and a handler has handled all of it; not to be awaited inside of
   *   the subscription's own handler, which it waits for
   */
  unsubscribe() {
    this.#home.unsubscribe(this);
    return this.#finished.promise;
  }

  /**
   * The same as `unsubscribe`, for `await using`.
   * @returns {Promise<void>}
   */
  [Symbol.asyncDispose]() {
    return this.unsubscribe();
  }

  /**
   * One event after the other; an event counts as handled when the next one is asked for. Leaving the loop ends the subscription,
   * and drops what has not been read. There can be one reader.
   * @returns {AsyncIterableIterator<BusEvent, undefined>}
   */
  [Symbol.asyncIterator]() {
    return /** @type {AsyncIterableIterator<BusEvent, undefined>} */ (this.#iterate(0));
  }

  /**
   * Arrays of what is there, each at least one event: several times cheaper than single events.
   * @param {{max?: number}} [options] most events of an array, default 1,000
   * @returns {AsyncIterableIterator<BusEvent[], undefined>}
   */
  batches({ max = 1000 } = {}) {
    if (!(max >= 1)) {
      throw new RangeError(`max: ${max} (expected: at least 1)`);
    }
    return /** @type {AsyncIterableIterator<BusEvent[], undefined>} */ (this.#iterate(Math.floor(max)));
  }

  /**
   * @param {number} most events of an array; 0 for single ones
   * @returns {AsyncIterableIterator<unknown, undefined>}
   */
  #iterate(most) {
    if (this.#handler || this.#isRead) {
      throw new TypeError(`subscription to ${this.filter}: ${this.#handler ? 'has a handler' : 'iterated already'} (expected: one reader)`);
    }
    this.#isRead = true;
    const iterator = {
      next: () => this.#next(most),
      return: () => {
        this.discard();
        this.#home.unsubscribe(this);
        return Promise.resolve({ value: undefined, done: true });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return /** @type {AsyncIterableIterator<unknown, undefined>} */ (iterator);
  }

  /**
   * @param {number} most
   * @returns {Promise<IteratorResult<unknown, undefined>>}
   */
  #next(most) {
    if (this.#reader) {
      return Promise.reject(new TypeError(`subscription to ${this.filter}: next() before the last one was answered (expected: one at a time)`));
    }
    this.#finishTaken();
    const value = this.#take(most);
    if (value !== undefined) {
      return Promise.resolve({ value, done: false });
    }
    if (this.#isEnded || this.#isDiscarded) {
      return this.#end();
    }
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject, most };
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
      taken.forEach(entry => entry.done());
    }
  }

  /** @param {number} most */
  #take(most) {
    let entry = this.#queue[this.#head];
    if (!entry) {
      return undefined;
    }
    if (most === 0) {
      const event = /** @type {BusEvent} */ (entry.events[entry.next++]);
      if (entry.next === entry.events.length) {
        this.#taken.push(this.#shift());
      }
      return event;
    }
    /** @type {BusEvent[]} */
    let batch = [];
    while (entry && batch.length < most) {
      const { events, next } = entry;
      const to = Math.min(events.length, next + most - batch.length);
      const part = next === 0 && to === events.length ? events : events.slice(next, to);
      batch = batch.length === 0 ? part : batch.concat(part);
      entry.next = to;
      if (to < events.length) {
        break;
      }
      this.#taken.push(this.#shift());
      entry = this.#queue[this.#head];
    }
    return batch;
  }

  #shift() {
    const entry = /** @type {Entry} */ (this.#queue[this.#head]);
    this.#head++;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head === 1024) {
      this.#queue = this.#queue.slice(1024);
      this.#head = 0;
    }
    return entry;
  }

  // ---- What comes, told by the client

  /** @param {Entry} entry at least one event; `pump` has to follow */
  arrive(entry) {
    this.#counts.received += entry.events.length;
    if (this.#isDiscarded) {
      entry.done();
    } else {
      this.#queue.push(entry);
    }
  }

  /** @param {number} events that came again */
  repeated(events) {
    this.#counts.duplicates += events;
  }

  /** @param {number} events that are missing */
  missed(events) {
    this.#counts.missing += events;
  }

  /** Hands on what has come, as far as the application takes it. */
  pump() {
    if (this.#handler) {
      this.#handle(this.#handler);
    } else if (this.#reader) {
      const { resolve, most } = this.#reader;
      const value = this.#take(most);
      if (value !== undefined) {
        this.#reader = null;
        resolve(/** @type {never} */ ({ value, done: false }));
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
    for (let entry = this.#queue[this.#head]; entry; entry = this.#queue[this.#head]) {
      const { events } = entry;
      while (entry.next < events.length && !this.#isDiscarded) {
        const event = /** @type {BusEvent} */ (events[entry.next++]);
        try {
          const promise = handler(event);
          if (promise !== undefined && typeof promise?.then === 'function') {
            promise.then(() => this.#goOn(), thrown => {
              this.#failed(thrown, event);
              this.#goOn();
            });
            return;
          }
        } catch (thrown) {
          this.#failed(thrown, event);
        }
      }
      if (entry === this.#queue[this.#head]) {
        this.#shift().done();
      }
    }
    this.#busy = false;
  }

  #goOn() {
    this.#busy = false;
    this.pump();
  }

  /**
   * @param {unknown} thrown
   * @param {BusEvent} event
   */
  #failed(thrown, event) {
    this.#counts.failed++;
    this.#home.failed(thrown, event);
  }

  /** The bus has confirmed it. */
  confirm() {
    this.isConfirmed = true;
    this.#ready.resolve(this);
  }

  /**
   * Nothing more comes from the bus; what is here is still handled.
   * @param {EventBusError | null} failure why, if not because the application wanted it
   */
  end(failure) {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#release();
    this.#failure ??= failure ?? undefined;
    this.#ready.reject(failure ?? this.#closed());
    // After a new token the bus may refuse what it has confirmed, and nobody awaits that.
    if (failure?.code === 'REFUSED' && (this.isConfirmed || !this.#isAwaited) && !this.#isRead) {
      this.#home.problem(failure);
    }
    if (!this.#handler && !this.#isRead) {
      // What waits is not read by anybody, and would take of the window for ever.
      this.discard();
    }
    this.#settle();
  }

  /** Nothing more is handed on; what waits counts as handled. */
  discard() {
    if (this.#isDiscarded) {
      return;
    }
    this.#isDiscarded = true;
    this.#release();
    this.#ready.reject(this.#closed());
    const left = this.#queue.slice(this.#head);
    this.#queue = [];
    this.#head = 0;
    this.#finishTaken();
    left.forEach(entry => entry.done());
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

  /** Whether nobody else gets what the bus has sent for it. */
  get isExclusive() {
    return this.group !== null;
  }

  /** Whether all that came was handled, and nothing more comes. */
  get isFinished() {
    return this.#isEnded && !this.#busy && this.#queue.length === 0;
  }

  #settle() {
    if (this.#isEnded && (!this.#handler || this.isFinished)) {
      this.#finished.resolve();
    }
    const reader = this.#reader;
    if (reader && this.#queue.length === 0 && (this.#isEnded || this.#isDiscarded)) {
      this.#reader = null;
      this.#end().then(reader.resolve, reader.reject);
    }
  }

  // ---- What is said to the bus

  /** @returns {Uint8Array} */
  get beginFrame() {
    return encodeSubscribe(this.id, this.filter, this.group, this.overflow);
  }

  /** @returns {Uint8Array} */
  get endFrame() {
    return encodeId(TYPE.UNSUBSCRIBE, this.id);
  }

  /** @returns {string} for people */
  toString() {
    return `subscription ${this.id} to ${this.filter}${this.group === null ? '' : ` in group ${this.group}`}`;
  }
}
