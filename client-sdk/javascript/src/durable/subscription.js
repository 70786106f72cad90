import { Fifo } from '../fifo.js';
import { INSPECT, shownAs } from '../inspect.js';
import { refuseUnknown } from '../options.js';
import { joined } from '../wire/bytes.js';
import { encodeConsume, encodeConsumerCredit, encodeSettle } from '../wire/durable-frames.js';
import { encodeId } from '../wire/frames.js';
import * as TYPE from '../wire/type.js';
import { Consumer } from './consumer.js';
import { AROUND_ITEM } from './credits.js';
import { FeedProgress } from './progress.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {EventBusError} from '../errors.js' */
/** @import {BusEvent} from '../event.js' */
/** @import {DurableHome} from '../internal.js' */
/** @import {DurableCounters, DurableHandler, Truncated, TruncatedReason} from '../types.js' */
/** @import {Feed} from '../wire/durable-frames.js' */
/** @import {Confirm} from '../wire/frames.js' */
/** @import {Listener} from './consumer.js' */
/** @import {ConsumeSettings} from './options.js' */

/**
 * Part of what a bus has fed, which waits for the application.
 *
 * @typedef {object} Item
 * @property {number} to last position that it covers
 * @property {number} bytes of the buffer
 * @property {((known: number) => BusEvent[]) | null} read returns its events behind a position
 * @property {number} known every event up to this position came before
 * @property {BusEvent[]} events read when their turn has come
 * @property {number} next index of the first event that was not handled
 * @property {Truncated | null} truncated instead of events
 */

// Pauses after failures of the handler, and minimum time between two settlements, in ms.
const PAUSES = [1000, 5000, 30_000, 120_000];
const SETTLE_INTERVAL = 100;
/** @type {BusEvent[]} */
const NONE = [];
const nothing = () => {};
/** @type {IteratorReturnResult<undefined>} */
const OVER = Object.freeze({ value: undefined, done: true });

/**
 * A consumer of durable topics: gets stored events in the order of their positions, each one once as long as it runs, over lost connections and client
 * moves. Its events go to its handler, or to one reader: `for await (const event of consumer)`. Unhandled events wait in its buffer, and behind that
 * at the bus, where they hold up nobody.
 * @template [T=unknown] what its codec reads
 */
export class DurableSubscription extends Consumer {
  #settings;
  #handler;
  #home;
  #listener;
  /** @type {FeedProgress<BusLink>} */
  #progress;
  #journal;
  /** @type {Fifo<Item>} */
  #queue = new Fifo();
  /** @type {Item | null} */
  #last = null;
  // Set when the bus was asked for its end.
  #isAsked = false;
  // Events that the reader has.
  #given = 0;
  #isReading = false;
  // Ends the wait of the reader, and the pause after a failure.
  #arrived = nothing;
  #resume = nothing;
  #settledAt = -Infinity;
  /** @type {unknown} */
  #settleTimer = null;
  #cancelLimit = nothing;
  #counts = { received: 0, duplicates: 0, failed: 0 };

  /**
   * Made by `durable`, `replay` and `latest`.
   * @param {number} id
   * @param {ConsumeSettings} settings
   * @param {DurableHandler | undefined} handler
   * @param {DurableHome} home
   * @param {Listener} listener
   * @internal
   */
  constructor(id, settings, handler, home, listener) {
    super(id, settings, home, listener);
    this.#settings = settings;
    this.#journal = settings.journal;
    this.#handler = handler;
    this.#home = home;
    this.#listener = listener;
    this.#progress = new FeedProgress(settings.bufferBytes);
  }

  // ---- For the application

  /** @returns {number} the position up to which every event was handled; 0 before the first */
  get position() {
    return this.#progress.handled;
  }

  /**
   * @returns {number} how many positions it is behind the end of the journal, as the bus has told that last: an upper bound of the events that wait,
   *   because not all need be for this consumer
   */
  lag() {
    return this.#progress.lag;
  }

  /** @returns {DurableCounters} figures since the beginning */
  counters() {
    return { ...this.#counts, bufferedBytes: this.#progress.buffered };
  }

  /**
   * Returns an iterator of single events. An event is handled when the next one is asked for, or by `settle`. One at which the loop was left comes
   * again, to the next loop. There can be one reader at a time.
   * @returns {AsyncIterableIterator<BusEvent<T>, undefined>}
   */
  [Symbol.asyncIterator]() {
    return /** @type {AsyncIterableIterator<BusEvent<T>, undefined>} */ (this.#iterate(0));
  }

  /**
   * Returns an iterator of arrays of the available events, at least one each: cheaper than single events. They are handled when the next ones are asked
   * for, or by `settle`.
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

  /** Counts the events that the reader has as handled, before it asks for more. */
  settle() {
    this.#handled(this.#given);
    this.#given = 0;
  }

  /**
   * @param {number} max events of an array; 0 for single ones
   * @returns {AsyncIterableIterator<unknown, undefined>}
   */
  #iterate(max) {
    this.beginReading(this.#handler);
    let isLeft = false;
    const iterator = {
      next: () => {
        if (isLeft) {
          return Promise.resolve(OVER);
        }
        if (this.#isReading) {
          return Promise.reject(new TypeError(`${this}: next() before the last one was answered (expected: one at a time)`));
        }
        this.settle();
        return this.#read(max, () => isLeft);
      },
      return: () => {
        if (!isLeft) {
          isLeft = true;
          this.isRead = false;
          this.#given = 0;
          this.#arrived();
        }
        return Promise.resolve(OVER);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return /** @type {AsyncIterableIterator<unknown, undefined>} */ (iterator);
  }

  /**
   * @param {number} max
   * @param {() => boolean} isLeft
   * @returns {Promise<IteratorResult<unknown, undefined>>}
   */
  async #read(max, isLeft) {
    this.#isReading = true;
    try {
      while (!isLeft() && !this.isOver) {
        const item = this.#front();
        if (!item) {
          await new Promise(resolve => { this.#arrived = () => resolve(undefined); });
        } else if (item.truncated) {
          await this.#miss(item);
        } else {
          const { events, next } = item;
          this.#given = max === 0 ? 1 : Math.min(max, events.length - next);
          return { value: max === 0 ? events[next] : events.slice(next, next + this.#given), done: false };
        }
      }
    } finally {
      this.#isReading = false;
      this.#arrived = nothing;
    }
    if (!isLeft() && this.failure !== undefined) {
      const failure = this.failure;
      this.failure = undefined;
      throw failure;
    }
    return OVER;
  }

  // ---- What waits

  /** @returns {Item | null} the first one that has something for the application; all before it are handled */
  #front() {
    for (let item = this.#queue.first; item; item = this.#queue.first) {
      if (item.read) {
        item.events = item.read(item.known);
        item.read = null;
      }
      while (this.#isHandled(item.events[item.next])) {
        item.next++;
      }
      if (item.truncated ? this.#settings.onTruncated && (item.to === 0 || item.to > this.#progress.handled) : item.next < item.events.length) {
        return item;
      }
      this.#done(item);
    }
    return null;
  }

  /**
   * @param {BusEvent | null | undefined} event
   * @returns {boolean} whether it was handled, by another consumer if not by this one
   */
  #isHandled(event) {
    return !!event && event.position <= this.#progress.handled;
  }

  /** @param {number} count events of the first item that are handled */
  #handled(count) {
    const item = this.#queue.first;
    if (!item || count === 0) {
      return;
    }
    item.next += count;
    this.#counts.received += count;
    this.#home.counters.received += count;
    this.#progress.reach(/** @type {BusEvent} */ (item.events[item.next - 1]).position);
    if (item.next === item.events.length) {
      this.#done(item);
    } else {
      this.#settle();
    }
  }

  /** @param {Item} item the first one, which is handled whole */
  #done(item) {
    this.#queue.shift();
    this.#last = this.#queue.size === 0 ? null : this.#last;
    this.#progress.reach(item.to);
    this.#progress.buffered -= item.bytes;
    this.#grant();
    this.#settle();
  }

  // ---- The handler

  /** Starts the handler, if there is something to do; not before the frames of a message are read. */
  #pump() {
    if (!this.#handler) {
      if (this.#isReading) {
        this.#arrived();
      } else if (!this.isRead) {
        // Positions without events are settled without a reader, too.
        this.#front();
      }
    } else if (this.running === 0 && this.#queue.size > 0) {
      this.running++;
      queueMicrotask(() => this.#run(/** @type {DurableHandler} */ (this.#handler)));
    }
  }

  /** @param {DurableHandler} handler */
  async #run(handler) {
    while (!this.isOver) {
      const item = this.#front();
      if (!item) {
        break;
      }
      if (item.truncated) {
        await this.#miss(item);
        continue;
      }
      const event = /** @type {BusEvent} */ (item.events[item.next]);
      if (await this.#succeeds(() => handler(event), item, event)) {
        this.#handled(1);
      }
    }
    this.running--;
    this.#cancelLimit();
    if (this.isStopping && !this.isEnded) {
      this.#stopped();
    }
    this.finishIfIdle();
  }

  /** @param {Item} item the first one */
  async #miss(item) {
    const { onTruncated } = this.#settings;
    if (await this.#succeeds(() => onTruncated?.(/** @type {Truncated} */ (item.truncated)), item, null)) {
      this.#done(item);
    }
  }

  /**
   * Calls the application, again after each failure.
   * @param {() => void | Promise<void>} call
   * @param {Item} item which is first as long as its journal is there
   * @param {BusEvent | null} event of it
   * @returns {Promise<boolean>} whether it has returned, and what it has handled counts
   */
  async #succeeds(call, item, event) {
    for (let failures = 0; !this.isOver && item === this.#queue.first && !this.#isHandled(event); failures++) {
      try {
        const pending = call();
        if (pending !== undefined) {
          await pending;
        }
        return !this.isEnded && !this.isGivenUp && item === this.#queue.first;
      } catch (thrown) {
        this.#counts.failed++;
        this.#listener.failed(thrown, event);
        await this.#pause(/** @type {number} */ (PAUSES[Math.min(failures, PAUSES.length - 1)]));
      }
    }
    return false;
  }

  /** @param {number} delay ms; ends earlier when the consumer is to end */
  async #pause(delay) {
    if (this.isOver) {
      return;
    }
    const { env } = this.#home;
    await new Promise(resolve => {
      const timer = env.setTimeout(() => resolve(undefined), delay);
      this.#resume = () => {
        env.clearTimeout(/** @type {never} */ (timer));
        resolve(undefined);
      };
    });
    this.#resume = nothing;
  }

  // ---- What the bus says

  /**
   * Records the journal that the bus has found; begins again if it was deleted, and created again.
   * @param {Confirm} confirm
   * @param {BusLink} link
   * @internal
   */
  accepted({ topic, creation }, link) {
    const before = this.#progress;
    this.#journal = topic;
    this.acceptedBy(link);
    before.creation ||= creation;
    if (creation !== before.creation && creation) {
      this.#clear();
      this.#resume();
      this.#progress = before.again(creation);
      if (before.isKnown) {
        const from = before.handled + 1;
        this.#missing({ filter: this.filter, from, to: Math.max(from, before.head), reason: 'DELETED' }, 0);
      }
    }
    this.#progress.accepted(link);
    this.#grant();
    this.#pump();
  }

  /**
   * Takes a `Feed` whose frames were checked.
   * @param {BusLink} link
   * @param {Feed} feed
   * @param {number} bytes of the frame
   * @param {{position: number, count: number}[]} runs of events in it
   * @param {(known: number) => BusEvent[]} read returns its events behind a position
   * @internal
   */
  fed(link, { from, to, head }, bytes, runs, read) {
    const progress = this.#progress;
    if (!this.#reached(link, from, bytes, head)) {
      return;
    }
    const known = progress.covered;
    const duplicates = runs.reduce((sum, { position, count }) => sum + Math.max(0, Math.min(count, known - position + 1)), 0);
    this.#counts.duplicates += duplicates;
    this.#home.counters.duplicates += duplicates;
    if (to > known) {
      progress.covered = to;
      if (runs.length > 0 || !this.#last) {
        this.#push({ to, bytes: bytes + AROUND_ITEM, read: runs.length > 0 ? read : null, known, events: NONE, next: 0, truncated: null });
      } else {
        this.#last.to = to;
      }
    }
    this.#grant();
    this.#settle();
    this.#pump();
  }

  /**
   * Takes a `Truncated`.
   * @param {BusLink} link
   * @param {number} from
   * @param {number} to
   * @param {TruncatedReason} reason
   * @internal
   */
  truncated(link, from, to, reason) {
    if (this.#reached(link, from, 0, to) && to > this.#progress.covered) {
      this.#missed(from, to, reason);
    }
    this.#pump();
  }

  /**
   * Counts a frame; tells the application of a hole before it, which a bus should have told.
   * @param {BusLink} link
   * @param {number} from
   * @param {number} bytes
   * @param {number} head
   * @returns {boolean} whether it is for this consumer
   */
  #reached(link, from, bytes, head) {
    const isOurs = this.#progress.arrived(link, from, bytes, head, this.name !== '');
    if (isOurs && from > this.#progress.covered + 1) {
      this.#missed(1, from - 1, 'UNKNOWN');
    }
    return isOurs;
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {TruncatedReason} reason
   */
  #missed(from, to, reason) {
    const progress = this.#progress;
    const truncated = { filter: this.filter, from: Math.max(from, progress.covered + 1), to, reason };
    progress.covered = to;
    const before = this.#last?.truncated;
    if (this.#last && before?.reason === reason && this.#last !== this.#queue.first) {
      this.#last.truncated = { ...before, to };
      this.#last.to = to;
      this.#listener.truncated(truncated);
    } else {
      this.#missing(truncated, to);
    }
  }

  /**
   * @param {Truncated} truncated
   * @param {number} to last position that it covers; 0 for those of a deleted journal
   */
  #missing(truncated, to) {
    this.#push({ to, bytes: AROUND_ITEM, read: null, known: 0, events: NONE, next: 0, truncated });
    this.#listener.truncated(truncated);
  }

  /** Drops what waits. */
  #clear() {
    this.#queue.clear();
    this.#last = null;
    this.#given = 0;
    this.#progress.buffered = 0;
  }

  /** @param {Item} item */
  #push(item) {
    if (!this.isOver) {
      this.#queue.push(item);
      this.#last = item;
      this.#progress.buffered += item.bytes;
    }
  }

  #grant() {
    for (const { link, limit, received } of this.#progress.grants()) {
      link.send(encodeConsumerCredit(this.id, limit, received));
    }
  }

  /** Tells the bus what is handled, now or in a moment. */
  #settle() {
    const { env, registry } = this.#home;
    if (this.name === '' || this.#isAsked || this.isEnded || !this.#progress.hasToSettle) {
      return;
    }
    const wait = this.isStopping ? 0 : this.#settledAt + SETTLE_INTERVAL - env.now();
    if (wait <= 0 && registry.tell(this, () => this.#settlement())) {
      this.#settledAt = env.now();
      this.#progress.settled = this.#progress.handled;
      return;
    }
    if ((wait > 0 || registry.isMoving) && this.#settleTimer === null) {
      this.#settleTimer = env.setTimeout(() => {
        this.#settleTimer = null;
        this.#settle();
      }, wait > 0 ? wait : SETTLE_INTERVAL);
    }
  }

  #settlement() {
    return encodeSettle(this.id, this.#progress.handled, false, this.#progress.creation);
  }

  /**
   * @param {BusLink} link that has ended
   * @internal
   * @override
   */
  lost(link) {
    super.lost(link);
    this.#progress.lost(link);
  }

  /**
   * @returns {boolean}
   * @internal
   */
  get isOverrun() {
    return this.#progress.isOverrun;
  }

  /**
   * Does nothing: its consumer at the new bus of a move stands by until that at the old one has ended.
   * @internal
   */
  leave() {}

  /**
   * Does nothing: it asks for no answers to settlements.
   * @internal
   */
  settled() {}

  /**
   * @returns {boolean} no call waits for settlements
   * @internal
   */
  settleRefused() {
    return false;
  }

  // ---- The end

  /**
   * @internal
   * @override
   */
  stop() {
    this.#settle();
    this.#arrived();
    this.#resume();
    if (this.running > 0) {
      this.#cancelLimit = this.#home.later(() => {
        this.isGivenUp = true;
        this.#stopped();
      });
    } else {
      this.#stopped();
    }
  }

  /** Asks the bus for the end, because the application wants it. */
  #stopped() {
    if (!this.#isAsked) {
      this.#isAsked = true;
      this.#home.registry.unsubscribe(this);
    }
  }

  /**
   * @param {EventBusError | null} failure
   * @internal
   * @override
   */
  end(failure) {
    if (this.isEnded) {
      return;
    }
    this.#home.env.clearTimeout(/** @type {never} */ (this.#settleTimer));
    this.#clear();
    super.end(failure);
    this.#arrived();
    this.#resume();
  }

  // ---- Registration

  /**
   * @returns {boolean} a bus keeps what it has not sent, and what was not settled
   * @internal
   */
  get isExclusive() {
    return false;
  }

  /**
   * @returns {Uint8Array} a frame that has to be sent
   * @internal
   */
  get beginFrame() {
    const { id, name, filter } = this;
    const goesOn = name === '' && this.#progress.isKnown;
    const { start: otherStart, from: otherFrom } = this.#settings;
    const { start, from } = goesOn ? { start: /** @type {const} */ ('POSITION'), from: this.#progress.covered + 1 } : this.#settings;
    const { creation } = this.#progress;
    return encodeConsume({ id, filter, journal: this.#journal, name, mode: 'EXCLUSIVE', start, from, limit: this.#progress.ask(), creation, otherStart, otherFrom });
  }

  /**
   * Returns the frames that settle what is handled, and end it. The settlement may be lost with its connection, so it does not count as told.
   * @returns {Uint8Array}
   * @internal
   */
  get endFrame() {
    const end = encodeId(TYPE.UNSUBSCRIBE, this.id);
    return this.name !== '' && this.#progress.hasToSettle ? joined([this.#settlement(), end]) : end;
  }

  /**
   * @returns {string} for people
   * @override
   */
  toString() {
    return `${this.name === '' ? 'consumer' : `durable subscription ${this.name}`} of ${this.filter}`;
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
    const { id, name, filter, isConfirmed, position } = this;
    return shownAs(this, { id, name, filter, isConfirmed, isEnded: this.isEnded, position, lag: this.lag(), counters: this.counters() }, options, inspect);
  }
}
