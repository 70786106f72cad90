import { textOf } from '../errors.js';
import { INSPECT, shownAs } from '../inspect.js';
import { encodeConsume } from '../wire/durable-frames.js';
import { encodeId } from '../wire/frames.js';
import * as TYPE from '../wire/type.js';
import { Consumer } from './consumer.js';
import { WorkerFeeds } from './worker-feeds.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {EventBusError} from '../errors.js' */
/** @import {BusEvent} from '../event.js' */
/** @import {DurableHome} from '../internal.js' */
/** @import {Truncated, TruncatedReason, Work, WorkerCounters, WorkHandler} from '../types.js' */
/** @import {Feed} from '../wire/durable-frames.js' */
/** @import {Confirm} from '../wire/frames.js' */
/** @import {Listener} from './consumer.js' */
/** @import {WorkDelivery} from './delivery.js' */
/** @import {WorkerSettings} from './options.js' */

// Time for which settlements are collected, in ms.
const COLLECT = 3;
const nothing = () => {};
/** @type {IteratorReturnResult<undefined>} */
const OVER = Object.freeze({ value: undefined, done: true });

/**
 * A consumer that shares the events of a durable subscription with others, and settles each of them. Its events go to its handler, as many at a time as it
 * has `concurrency`, or to one reader: `for await (const { event, delivery } of worker)`. A reader settles each event by `delivery`. A loop that is left
 * ends the worker, and gives back what is not settled.
 * @template [T=unknown] what its codec reads
 */
export class Worker extends Consumer {
  #settings;
  #handler;
  #home;
  #listener;
  #journal;
  #feeds;
  #counts = { received: 0, done: 0, retried: 0, rejected: 0, late: 0, failed: 0 };
  /** @type {unknown} */
  #collectTimer = null;
  /** @type {unknown} */
  #lookTimer = null;
  // Ends the wait of the reader, and the deadline of the end.
  #arrived = nothing;
  #cancelLimit = nothing;

  /**
   * Made by `worker`.
   * @param {number} id
   * @param {WorkerSettings} settings
   * @param {WorkHandler | undefined} handler
   * @param {DurableHome} home
   * @param {Listener} listener
   * @internal
   */
  constructor(id, settings, handler, home, listener) {
    super(id, settings, home, listener);
    this.#settings = settings;
    this.#handler = handler;
    this.#home = home;
    this.#listener = listener;
    this.#journal = settings.journal;
    this.#feeds = new WorkerFeeds({ id, env: home.env, collect: () => this.#collect() }, settings, this.#counts);
  }

  // ---- For the application

  /** @returns {WorkerCounters} figures since the beginning */
  counters() {
    return { ...this.#counts, bufferedBytes: this.#feeds.bytes };
  }

  /**
   * Returns an iterator of events with their deliveries. Nothing is settled by itself.
   * @returns {AsyncIterableIterator<Work<T>, undefined>}
   */
  [Symbol.asyncIterator]() {
    this.beginReading(this.#handler);
    let isReading = false;
    const iterator = {
      next: async () => {
        if (isReading) {
          throw new TypeError(`${this}: next() before the last one was answered (expected: one at a time)`);
        }
        isReading = true;
        try {
          return await this.#read();
        } finally {
          isReading = false;
        }
      },
      return: async () => {
        const end = this.unsubscribe();
        this.#feeds.release();
        await end;
        return OVER;
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return /** @type {AsyncIterableIterator<Work<T>, undefined>} */ (/** @type {unknown} */ (iterator));
  }

  /** @returns {Promise<IteratorResult<Work, undefined>>} */
  async #read() {
    while (!this.isOver) {
      const delivery = this.#take();
      if (delivery) {
        return { value: { event: delivery.event, delivery }, done: false };
      }
      await new Promise(resolve => { this.#arrived = () => resolve(undefined); });
      this.#arrived = nothing;
    }
    if (this.failure !== undefined) {
      const { failure } = this;
      this.failure = undefined;
      throw failure;
    }
    return OVER;
  }

  // ---- The handler

  /** Starts the handler, if there is something to do; not before the frames of a message are read. */
  #wake() {
    const handler = this.#handler;
    if (!handler) {
      this.#arrived();
    } else if (this.running < this.#settings.concurrency && this.#feeds.hasWork) {
      this.running++;
      queueMicrotask(() => this.#run(handler));
    }
  }

  /** @returns {WorkDelivery | null} the next event; null for none */
  #take() {
    const delivery = this.#feeds.take();
    if (delivery) {
      this.#counts.received++;
      this.#home.counters.received++;
    }
    return delivery;
  }

  /** @param {WorkHandler} handler */
  async #run(handler) {
    for (let delivery = this.#take(); delivery; delivery = this.#take()) {
      this.#wake();
      try {
        const pending = handler(delivery.event, delivery);
        if (pending !== undefined) {
          await pending;
        }
        delivery.done();
      } catch (thrown) {
        delivery.failed(`${textOf(thrown)}`);
        this.#failed(thrown, delivery.event);
      }
    }
    this.running--;
    this.#feeds.flush();
    if (this.isFinished) {
      this.#cancelLimit();
      this.finishIfIdle();
    }
  }

  /**
   * @param {unknown} thrown
   * @param {BusEvent | null} event
   */
  #failed(thrown, event) {
    this.#counts.failed++;
    this.#listener.failed(thrown, event);
  }

  /** Sends the settlements in a moment. */
  #collect() {
    if (!this.isEnded) {
      this.#collectTimer ??= this.#home.env.setTimeout(() => {
        this.#collectTimer = null;
        this.#feeds.flush();
      }, COLLECT);
    }
  }

  /** Looks at what waits for long, again and again while there is anything. */
  #lookLater() {
    this.#lookTimer ??= this.#home.env.setTimeout(() => {
      this.#lookTimer = null;
      if (this.#feeds.look()) {
        this.#lookLater();
      }
    }, this.#settings.ackTimeout / 4);
  }

  // ---- What the bus says

  /**
   * @param {Confirm} confirm
   * @param {BusLink} link
   * @internal
   */
  accepted({ topic, creation }, link) {
    this.acceptedBy(link);
    this.#journal = topic;
    const missing = this.#feeds.accepted(link, creation);
    if (missing) {
      this.#missed(missing);
    }
  }

  /**
   * Takes a `Feed` whose frames were checked.
   * @param {BusLink} link
   * @param {Feed} feed
   * @param {number} bytes of the frame
   * @param {unknown} runs
   * @param {(known: number) => BusEvent[]} read returns its events behind a position
   * @internal
   */
  fed(link, feed, bytes, runs, read) {
    this.#feeds.fed(link, feed, bytes, read);
    this.#wake();
    this.#lookLater();
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
    if (this.#feeds.truncated(link, to)) {
      this.#missed({ from, to, reason });
    }
  }

  /** @param {Omit<Truncated, 'filter'>} missing */
  async #missed(missing) {
    const truncated = { filter: this.filter, ...missing };
    this.#listener.truncated(truncated);
    try {
      await this.#settings.onTruncated?.(truncated);
    } catch (thrown) {
      this.#failed(thrown, null);
    }
  }

  /**
   * @param {BusLink} link that has ended
   * @internal
   * @override
   */
  lost(link) {
    super.lost(link);
    this.#feeds.lost(link);
  }

  /**
   * Gives back what waits, because the client is about to leave the bus of a connection.
   * @param {BusLink} link
   * @internal
   */
  leave(link) {
    this.#feeds.leave(link);
  }

  /**
   * @param {BusLink} link
   * @param {number} position whose settlement is stored
   * @internal
   */
  settled(link, position) {
    this.#feeds.settled(link, position);
  }

  /**
   * @param {BusLink} link
   * @param {EventBusError} failure of a settlement
   * @returns {boolean} whether a call waits for it
   * @internal
   */
  settleRefused(link, failure) {
    return this.#feeds.refused(link, failure);
  }

  /**
   * @returns {boolean}
   * @internal
   */
  get isOverrun() {
    return this.#feeds.isOverrun;
  }

  // ---- The end

  /**
   * @internal
   * @override
   */
  stop() {
    const { later, registry } = this.#home;
    this.#feeds.stop();
    this.#arrived();
    this.#cancelLimit = later(() => {
      this.isGivenUp = true;
      this.#feeds.release();
      this.finishIfIdle();
      // The bus has all that it waits for.
      this.#cancelLimit = later(() => registry.drained(this.id));
    });
    registry.unsubscribe(this);
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
    const { env } = this.#home;
    this.#feeds.end();
    super.end(failure);
    env.clearTimeout(/** @type {never} */ (this.#collectTimer));
    env.clearTimeout(/** @type {never} */ (this.#lookTimer));
    if (this.isFinished) {
      this.#cancelLimit();
    }
    this.#arrived();
  }

  // ---- Registration

  /**
   * @returns {boolean} what the bus has given it goes to no other one
   * @internal
   */
  get isExclusive() {
    return true;
  }

  /**
   * @returns {Uint8Array} a frame that has to be sent
   * @internal
   */
  get beginFrame() {
    const { id, name, filter } = this;
    const { start, from, maxUnsettled, ackTimeout, maxAttempts } = this.#settings;
    const limit = this.#feeds.ask();
    const { creation } = this.#feeds;
    return encodeConsume(
      { id, filter, journal: this.#journal, name, mode: 'SHARED', start, from, limit, creation, otherStart: start, otherFrom: from },
      [maxUnsettled, ackTimeout, maxAttempts]);
  }

  /**
   * @returns {Uint8Array}
   * @internal
   */
  get endFrame() {
    return encodeId(TYPE.UNSUBSCRIBE, this.id);
  }

  /**
   * @returns {string} for people
   * @override
   */
  toString() {
    return `worker ${this.name} of ${this.filter}`;
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
    const { id, name, filter, isConfirmed, isEnded } = this;
    return shownAs(this, { id, name, filter, isConfirmed, isEnded, counters: this.counters() }, options, inspect);
  }
}
