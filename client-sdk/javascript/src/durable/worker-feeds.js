import { deferred } from '../deferred.js';
import { EventBusError } from '../errors.js';
import { encodeConsumerCredit } from '../wire/durable-frames.js';
import { AROUND_ITEM, FeedCredits } from './credits.js';
import { WorkDelivery } from './delivery.js';
import { WorkerLine } from './worker-line.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {BusEvent} from '../event.js' */
/** @import {Environment} from '../internal.js' */
/** @import {Truncated} from '../types.js' */
/** @import {Feed} from '../wire/durable-frames.js' */
/** @import {WorkerSettings} from './options.js' */
/** @import {Range} from './settlements.js' */
/** @import {Counts} from './worker-line.js' */

/**
 * A `Feed` of a shared durable subscription: the events that wait, and how many the application has.
 *
 * @typedef {object} WorkerFeed
 * @property {WorkerLine} line
 * @property {number} number ascends
 * @property {number} attempt number of this delivery of its events
 * @property {number} bytes of the buffer
 * @property {number} to last position
 * @property {BusEvent[]} events
 * @property {number} next index of the first one that waits; behind the last one for none
 * @property {number} open number of events that the application has not settled
 * @property {number} arrivedAt ms
 * @property {number} since begin of the last ack timeout, ms
 *
 * @typedef {object} WorkerPort
 * @property {number} id of the consumer
 * @property {Environment} env
 * @property {() => void} collect flushes in a moment
 */

// Timeout for the answer to a settlement, in ms.
const ANSWER_TIMEOUT = 10_000;

/**
 * Events that a worker has: those that wait, and those that the application has not settled.
 *
 * An event belongs to the connection that brought it, and is settled over it: when that is lost, the bus gives the event to another consumer, whatever
 * becomes of it here.
 */
export class WorkerFeeds {
  /** Creation of the journal; 0 while it is not known. */
  creation = 0;
  #port;
  #settings;
  #counts;
  /** @type {FeedCredits<BusLink>} */
  #credits;
  /** @type {Map<BusLink, WorkerLine>} */
  #lines = new Map();
  /** @type {WorkerFeed[]} feeds with events that wait */
  #queue = [];
  /** @type {Set<WorkerFeed>} feeds whose bytes count: events of them wait, or are not settled */
  #counted = new Set();
  /** @type {Set<WorkDelivery>} events that the application has, and the bus may wait for */
  #open = new Set();
  #feeds = 0;
  // Last position that was fed, and last one of the journal.
  #fed = 0;
  #head = 0;
  #isStopping = false;

  /**
   * @param {WorkerPort} port
   * @param {WorkerSettings} settings
   * @param {Counts} counts
   */
  constructor(port, settings, counts) {
    this.#port = port;
    this.#settings = settings;
    this.#counts = counts;
    // A small step: events that stay for long do not keep the rest of the room from others.
    this.#credits = new FeedCredits(settings.bufferBytes, settings.bufferBytes / 8);
  }

  // ---- What the bus says

  /** @returns {number} the limit for a new `Consume`: what is here keeps its room */
  ask() {
    return this.#credits.ask();
  }

  /** @returns {number} bytes of events that wait, or are not settled */
  get bytes() {
    return this.#credits.buffered;
  }

  /** @returns {boolean} whether the bus sends much more than it may */
  get isOverrun() {
    return this.#credits.isOverrun;
  }

  /**
   * Records that a bus has accepted the worker.
   * @param {BusLink} link
   * @param {number} creation of the journal; 0 if the bus does not tell
   * @returns {Omit<Truncated, 'filter'> | null} what does not come, because the journal was deleted
   */
  accepted(link, creation) {
    this.lost(link);
    const line = new WorkerLine(link, this.#credits.accepted(link), this.#port.id, creation, this.#counts);
    this.#lines.set(link, line);
    if (this.#isStopping) {
      this.leave(link);
    }
    this.#grant();
    const before = this.creation;
    if (creation === 0 || creation === before) {
      return null;
    }
    const from = this.#fed + 1;
    const to = Math.max(from, this.#head);
    this.creation = creation;
    this.#fed = this.#head = 0;
    return before !== 0 && from > 1 ? { from, to, reason: 'DELETED' } : null;
  }

  /**
   * Takes a `Feed` whose frames were checked.
   * @param {BusLink} link
   * @param {Feed} feed
   * @param {number} bytes of the frame
   * @param {(known: number) => BusEvent[]} read returns its events behind a position
   */
  fed(link, { from, to, head, attempt }, bytes, read) {
    const line = this.#lines.get(link);
    if (!line) {
      // Without an answer to Consume, or behind the end.
      return;
    }
    line.credit.received += bytes;
    this.#reached(to, head);
    const now = this.#port.env.now();
    const events = read(from - 1);
    const feed = { line, number: this.#feeds++, attempt, bytes: bytes + AROUND_ITEM, to, events, next: 0, open: 0, arrivedAt: now, since: now };
    this.#counted.add(feed);
    this.#credits.buffered += feed.bytes;
    if (line.isLeaving) {
      this.#release(feed);
      line.flush();
    } else if (events.length > 0) {
      this.#queue.push(feed);
    }
    this.#uncountSettled(feed);
  }

  /**
   * @param {BusLink} link
   * @param {number} to last position that does not come
   * @returns {boolean} whether that counts
   */
  truncated(link, to) {
    const counts = this.#lines.has(link);
    if (counts) {
      this.#reached(to, to);
    }
    return counts;
  }

  /**
   * @param {number} to
   * @param {number} head
   */
  #reached(to, head) {
    this.#fed = Math.max(this.#fed, to);
    this.#head = Math.max(this.#head, head);
  }

  /** @param {BusLink} link whose bus has ended the worker, or which has ended: what it brought is void */
  lost(link) {
    const line = this.#lines.get(link);
    this.#lines.delete(link);
    this.#credits.lost(link);
    line?.lose();
    this.#take(feed => feed.line === line, feed => { feed.next = feed.events.length; });
  }

  /**
   * Gives back what waits of a connection, and what still comes over it.
   * @param {BusLink} link
   */
  leave(link) {
    const line = this.#lines.get(link);
    if (line) {
      line.isLeaving = true;
      this.#credits.lost(link);
      this.#take(feed => feed.line === line, feed => this.#release(feed));
      line.flush();
    }
  }

  /** Gives back all that waits, and all that still comes. */
  stop() {
    this.#isStopping = true;
    [...this.#lines.keys()].forEach(link => this.leave(link));
  }

  /** Gives back what the application has not settled. */
  release() {
    this.#open.forEach(delivery => delivery.release());
    this.flush();
  }

  /** Drops all. */
  end() {
    this.#isStopping = true;
    [...this.#lines.keys()].forEach(link => this.lost(link));
    this.#counted.clear();
    this.#credits.buffered = 0;
  }

  /**
   * Removes feeds from the queue.
   * @param {(feed: WorkerFeed) => boolean} condition
   * @param {(feed: WorkerFeed) => void} end
   */
  #take(condition, end) {
    const taken = this.#queue.filter(condition);
    this.#queue = this.#queue.filter(feed => !condition(feed));
    taken.forEach(feed => {
      end(feed);
      this.#uncountSettled(feed);
    });
  }

  /** @param {WorkerFeed} feed whose waiting events are given back */
  #release(feed) {
    const { line, events, next, to } = feed;
    const event = events[next];
    feed.next = events.length;
    if (event) {
      line.settle({ feed, first: next, last: events.length - 1, from: event.position, to, outcome: 'RELEASE', delayMillis: -1, reason: '' });
    }
  }

  /** @param {WorkerFeed} feed */
  #uncountSettled(feed) {
    if (feed.next === feed.events.length && feed.open === 0) {
      this.#uncount(feed);
    }
  }

  /** @param {WorkerFeed} feed */
  #uncount(feed) {
    if (this.#counted.delete(feed)) {
      this.#credits.buffered -= feed.bytes;
      this.#grant();
    }
  }

  #grant() {
    for (const { link, limit, received } of this.#credits.grants()) {
      link.send(encodeConsumerCredit(this.#port.id, limit, received));
    }
  }

  // ---- What the application does

  /** @returns {boolean} whether an event waits */
  get hasWork() {
    return this.#queue.length > 0;
  }

  /** @returns {WorkDelivery | null} the next event; null for none */
  take() {
    const [feed] = this.#queue;
    if (!feed) {
      return null;
    }
    const now = feed.since = this.#port.env.now();
    const delivery = new WorkDelivery(this, feed, feed.next, now);
    feed.next++;
    feed.open++;
    this.#open.add(delivery);
    if (feed.next === feed.events.length) {
      this.#queue.shift();
    }
    if (now - feed.arrivedAt > this.#settings.ackTimeout / 8) {
      // The application gets the whole ack timeout.
      feed.line.settle(delivery.range('EXTEND'));
      feed.line.flush();
    }
    return delivery;
  }

  /**
   * Settles an event in a moment, unless it was settled before.
   * @param {WorkDelivery} delivery
   * @param {Range} range
   */
  settle(delivery, range) {
    if (this.#close(delivery)) {
      delivery.feed.line.settle(range);
      this.#port.collect();
    }
  }

  /**
   * Settles an event with an answer.
   * @param {WorkDelivery} delivery
   * @returns {Promise<void>} as of `doneConfirmed`
   */
  confirm(delivery) {
    const { env } = this.#port;
    const { promise, resolve, reject } = /** @type {PromiseWithResolvers<void>} */ (deferred());
    const { feed, event } = delivery;
    if (!this.#close(delivery)) {
      reject(new TypeError(`the event at position ${event.position} is settled already (expected: doneConfirmed as its first settlement)`));
      return promise;
    }
    const timer = env.setTimeout(() => reject(new EventBusError(
      'TIMED_OUT', `no answer about the event at position ${event.position} within ${ANSWER_TIMEOUT} ms: it may come again`)), ANSWER_TIMEOUT);
    const clear = () => env.clearTimeout(/** @type {never} */ (timer));
    promise.then(clear, clear);
    feed.line.confirm(delivery.range('DONE'), { resolve, reject });
    return promise;
  }

  /** @param {WorkDelivery} delivery */
  #close(delivery) {
    const { feed, isSettled } = delivery;
    if (!isSettled) {
      delivery.isSettled = true;
      this.#open.delete(delivery);
      feed.open--;
      this.#uncountSettled(feed);
    }
    return !isSettled;
  }

  /** @param {WorkDelivery} delivery whose ack timeout begins again, if that matters */
  extend(delivery) {
    const { feed } = delivery;
    const now = this.#port.env.now();
    if (!delivery.isSettled && now - delivery.extendedAt >= this.#settings.ackTimeout / 8) {
      delivery.extendedAt = feed.since = now;
      feed.line.settle(delivery.range('EXTEND'));
      this.#port.collect();
    }
  }

  /** Sends the settlements that wait. */
  flush() {
    this.#lines.forEach(line => line.flush());
  }

  /**
   * @param {BusLink} link
   * @param {number} position whose settlement is stored
   */
  settled(link, position) {
    this.#lines.get(link)?.settled(position);
  }

  /**
   * @param {BusLink} link
   * @param {EventBusError} failure of a settlement
   * @returns {boolean} whether a call waits for it
   */
  refused(link, failure) {
    return this.#lines.get(link)?.refused(failure) ?? false;
  }

  // ---- Time

  /**
   * Gives back what waits for long, and forgets what was not settled in time: the bus has given that to another consumer.
   * @returns {boolean} whether anything is left to look at
   */
  look() {
    const { ackTimeout } = this.#settings;
    const now = this.#port.env.now();
    this.#take(feed => now - feed.arrivedAt >= ackTimeout / 2, feed => this.#release(feed));
    for (const feed of this.#counted) {
      if (now - feed.since >= 2 * ackTimeout) {
        this.#open.forEach(delivery => delivery.feed === feed && this.#open.delete(delivery));
        this.#uncount(feed);
      }
    }
    this.flush();
    return this.#counted.size > 0;
  }
}
