import { BusEvent } from './event.js';
import { HeldDeliveries } from './held-deliveries.js';
import { Routes } from './routes.js';
import { Subscription } from './subscription.js';
import { Deliver } from './wire/deliver.js';

/** @import {Window} from './credit.js' */
/** @import {ProducerState} from './producers.js' */
/** @import {Registry} from './registry.js' */
/** @import {Environment} from './internal.js' */
/** @import {Counters, Gap, GapReason} from './types.js' */
/** @import {GapFrame} from './wire/frames.js' */

const nothing = () => {};

/**
 * Inbound path: checks each delivery against what was received before, and puts it into the queues of the matching subscriptions.
 */
export class Dispatcher {
  #env;
  #registry;
  #counters;
  #window;
  #tellGap;
  #routes;
  #view = new Deliver();
  /** @type {Set<Subscription>} */
  #touched = new Set();
  /** @type {HeldDeliveries | null} */
  #held = null;
  /** @type {() => void} */
  #tooMuch = () => {};
  /** @type {Set<Subscription>} whose buffers may be full */
  #full = new Set();
  /** @type {unknown} */
  #timer = null;
  /** Called when something was handled: there may be more room. */
  onRoom = () => {};
  /** @type {(subscription: Subscription) => void} called for a slow subscription with DISCONNECT */
  onSlow = () => {};

  /**
   * @param {Registry} registry
   * @param {Counters} counters
   * @param {Window} window
   * @param {(gap: Gap) => void} tellGap
   * @param {number} trackedProducers
   * @param {Environment} env
   */
  constructor(registry, counters, window, tellGap, trackedProducers, env) {
    this.#env = env;
    this.#registry = registry;
    this.#counters = counters;
    this.#window = window;
    this.#tellGap = tellGap;
    this.#routes = new Routes(trackedProducers);
  }

  /**
   * Takes a `Deliver`; `handOver` has to follow.
   * @param {Uint8Array} message
   * @param {number} start of the frame
   * @param {number} from of the body
   * @param {number} to its end
   */
  deliver(message, start, from, to) {
    const view = this.#view;
    view.read(message, from, to);
    if (view.count === 0) {
      return;
    }
    const origin = this.#find();
    const held = this.#held;
    if (held && origin.topic.inGroups.length > 0) {
      held.addGrouped(origin, { message, start, from, to, sequence: view.sequence, fresh: false });
      if (held.isTooMuch) {
        const tooMuch = this.#tooMuch;
        this.#tooMuch = () => {};
        tooMuch();
      }
    } else {
      this.#judge(message, to - start, origin);
    }
  }

  #find() {
    const origin = this.#routes.find(this.#view);
    this.#rematch(origin);
    return origin;
  }

  /** @param {ProducerState} origin */
  #rematch({ topic }) {
    if (topic.version !== this.#registry.version) {
      // Only subscriptions match a topic.
      topic.match(/** @type {Iterable<Subscription>} */ (this.#registry.all), this.#registry.version);
    }
  }

  /**
   * @param {Uint8Array} message
   * @param {number} bytes of the frame
   * @param {ProducerState} origin
   */
  #judge(message, bytes, origin) {
    if (origin.topic.everyEvent.length > 0 && this.#isForGroupsAlone) {
      this.#counters.received += this.#view.count;
      this.#give(message, bytes, origin, 0, this.#members(origin));
      return;
    }
    const skip = this.#repetitions(origin);
    const { topic } = origin;
    const { groups } = this.#view;
    const targets = groups.length === 0 ? topic.everyEvent : [...topic.everyEvent, ...this.#members(origin)];
    this.#give(message, bytes, origin, skip, targets);
  }

  /**
   * Tells whether subscriptions without a group get the events with another frame: those of a durable topic come from two buses, in no order between
   * them.
   */
  get #isForGroupsAlone() {
    return this.#view.offset > 0 && this.#view.groups.length > 0;
  }

  /** @param {ProducerState} origin */
  #repetitions(origin) {
    const { sequence, count } = this.#view;
    const { everyEvent } = origin.topic;
    const skip = origin.received(sequence, count, everyEvent.length > 0, (from, to) => this.#reportGap(origin, from, to, 'LOST', everyEvent));
    if (skip > 0) {
      this.#counters.duplicates += skip;
      everyEvent.forEach(s => s.repeated(skip));
    }
    this.#counters.received += count - skip;
    return skip;
  }

  /** @param {ProducerState} origin */
  #members({ topic }) {
    return topic.inGroups.filter(s => this.#view.groups.includes(s.id));
  }

  /**
   * @param {Uint8Array} message
   * @param {number} bytes
   * @param {ProducerState} origin
   * @param {number} skip number of duplicates to leave out
   * @param {Subscription[]} targets
   */
  #give(message, bytes, origin, skip, targets) {
    const { count, offsets, sequence, schema, receivedAt, offset, originProducer, originSequence } = this.#view;
    if (skip === count || targets.length === 0) {
      return;
    }
    let left = 0;
    for (const { isBlocking } of targets) {
      left += isBlocking ? 1 : 0;
    }
    this.#window.unhandled += left > 0 ? bytes : 0;
    const done = () => {
      if (--left === 0) {
        this.#window.unhandled -= bytes;
        this.onRoom();
      }
    };
    const durable = offset < 1 ? null : { producer: originProducer, sequence: originSequence, position: offset, first: sequence };
    for (const target of targets) {
      const head = { bytes: message, topic: origin.topic.name, producer: origin.producer, schema, receivedAt, codec: target.codec, origin: durable };
      /** @type {BusEvent[]} */
      const events = new Array(count - skip);
      for (let i = skip, o = 3 * skip; i < count; i++, o += 3) {
        events[i - skip] = new BusEvent(
          head, sequence + i, /** @type {number} */ (offsets[o]), /** @type {number} */ (offsets[o + 1]), /** @type {number} */ (offsets[o + 2]));
      }
      target.arrive({ events, next: 0, bytes, done: target.isBlocking ? done : nothing, notice: null });
      this.#touched.add(target);
    }
  }

  /**
   * Takes a `Gap`.
   * @param {GapFrame} frame
   */
  gap(frame) {
    this.#gap(frame, 0);
  }

  /**
   * @param {GapFrame} frame
   * @param {number} seen up to here nothing is missing
   */
  #gap({ topic, producer, from, to, reason }, seen) {
    if (from < 1 || to < from) {
      return;
    }
    const origin = this.#routes.producer(this.#routes.topic(topic), producer);
    this.#rematch(origin);
    const first = seen === 0 ? from : Math.max(from, origin.last + 1);
    if (first <= to) {
      // The bus does not tell for which groups it had chosen this client.
      const { everyEvent, inGroups } = origin.topic;
      origin.gap(first, to, (low, high) => this.#reportGap(origin, low, high, reason === 'UNKNOWN' ? 'LOST' : reason, [...everyEvent, ...inGroups]));
    }
  }

  /**
   * @param {ProducerState} origin
   * @param {number} from
   * @param {number} to
   * @param {GapReason} reason
   * @param {Subscription[]} concerned
   */
  #reportGap({ topic, producer }, from, to, reason, concerned) {
    const gap = { topic: topic.name, producer, from, to, reason };
    this.#counters.missing += to - from + 1;
    for (const one of concerned) {
      one.missed(gap);
      this.#touched.add(one);
    }
    this.#tellGap(gap);
  }

  /** @param {Subscription} subscription with something to deliver; `handOver` has to follow */
  touch(subscription) {
    this.#touched.add(subscription);
  }

  /** Delivers the received events to the application. */
  handOver() {
    if (this.#touched.size > 0) {
      const touched = this.#touched;
      this.#touched = new Set();
      for (const one of touched) {
        one.pump();
        if (!one.isBlocking && one.isFull) {
          this.#full.add(one);
        }
      }
      if (this.#full.size > 0 || this.#window.isCrowded) {
        this.#relieveLater();
      }
    }
  }

  /** Checks the buffers after this turn: a reader takes its events only then. */
  #relieveLater() {
    if ([...this.#full].some(one => one.isOverrun)) {
      this.relieve();
    }
    this.#timer ??= this.#env.setTimeout(() => {
      this.#timer = null;
      this.relieve();
    }, 0);
  }

  /** Makes room in full buffers, as the policies of their subscriptions say. */
  relieve() {
    const full = [...this.#full];
    this.#full.clear();
    full.forEach(one => one.isFull && this.#makeRoom(one, one.bufferBytes));
    for (let before = Infinity; this.#window.isCrowded && this.#window.buffered < before;) {
      before = this.#window.buffered;
      const [first, ...others] = /** @type {Subscription[]} */ ([...this.#registry.all].filter(one => one instanceof Subscription && !one.isBlocking));
      const largest = others.reduce((max, one) => one.buffered > max.buffered ? one : max, /** @type {Subscription} */ (first));
      this.#makeRoom(largest, largest.buffered / 2);
    }
  }

  /**
   * @param {Subscription} one
   * @param {number} max
   */
  #makeRoom(one, max) {
    if (one.overflow === 'DISCONNECT') {
      this.onSlow(one);
    } else {
      one.makeRoom(max);
      one.pump();
    }
  }

  /** Stops the timer, because the client has ended. */
  close() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
    this.#full.clear();
  }

  // ---- Two connections at once, see HeldDeliveries

  /**
   * Begins to hold deliveries: until `release` there may be two connections.
   * @param {() => void} tooMuch called once when the old connection has delivered more than may be held
   */
  hold(tooMuch) {
    this.#held = new HeldDeliveries();
    this.#tooMuch = tooMuch;
  }

  /**
   * Takes a `Deliver` of the new connection.
   * @param {Uint8Array} message
   * @param {number} start
   * @param {number} from
   * @param {number} to
   */
  holdDelivery(message, start, from, to) {
    const view = this.#view;
    view.read(message, from, to);
    if (this.#held && view.count > 0) {
      const origin = this.#find();
      const delivery = { message, start, from, to, sequence: view.sequence, fresh: true };
      if (origin.topic.inGroups.length > 0) {
        this.#held.addGrouped(origin, delivery);
      } else {
        this.#held.add(delivery);
      }
    }
  }

  /**
   * Takes a `Gap` of the new connection.
   * @param {GapFrame} gap
   */
  holdGap(gap) {
    this.#held?.add(gap);
  }

  /** Drops held deliveries except those of groups, because the new connection is given up. */
  holdGroupsOnly() {
    this.#held?.keepGroupsOnly();
  }

  /**
   * Delivers the held events, without duplicates.
   * @param {boolean} moved whether the new connection stays; if not, only its events of groups are delivered, because no other member got them
   */
  release(moved) {
    const held = this.#held;
    this.#held = null;
    this.#tooMuch = () => {};
    if (!held) {
      return;
    }
    if (moved) {
      for (const one of held.plain) {
        if ('message' in one) {
          this.deliver(one.message, one.start, one.from, one.to);
        } else {
          this.#gap(one, 1);
        }
      }
    }
    for (const one of held.grouped()) {
      this.#releaseGrouped(one, moved || !one.fresh);
    }
    this.handOver();
  }

  /**
   * @param {import('./held-deliveries.js').HeldDelivery} held
   * @param {boolean} everything whether to deliver to subscriptions without a group, too
   */
  #releaseGrouped({ message, start, from, to }, everything) {
    this.#view.read(message, from, to);
    const origin = this.#find();
    const { everyEvent } = origin.topic;
    if (everyEvent.length === 0) {
      this.#judge(message, to - start, origin);
      return;
    }
    // The same event comes over both connections for subscriptions without a group, but over one of them for the group: an event that the former have
    // seen may be new to the latter.
    this.#give(message, to - start, origin, 0, this.#members(origin));
    if (everything && !this.#isForGroupsAlone) {
      this.#give(message, to - start, origin, this.#repetitions(origin), everyEvent);
    }
  }
}
