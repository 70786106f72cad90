import { EventBusError } from './errors.js';

/** Timeout for the answer of a bus about the begin or end of a registration, in ms. */
const ANSWER_TIMEOUT = 10_000;

/**
 * A subscription, a service or a consumer, requested from the bus on every connection.
 *
 * @typedef {object} Registration
 * @property {number} id unique among all
 * @property {string | null} group name of its group; null for none
 * @property {boolean} isConfirmed whether a bus has confirmed it
 * @property {boolean} isExclusive whether no other client gets what the bus has sent for it
 * @property {boolean} isFinished whether everything received was handled and nothing more comes
 * @property {Uint8Array} beginFrame frame that begins it
 * @property {Uint8Array} endFrame frame that ends it
 * @property {(topic: string) => boolean} matches whether events of the topic are for it
 * @property {() => void} confirm the bus has confirmed it
 * @property {(from: number) => void} interrupted the bus has confirmed it again, after an interruption that began at `from`, in µs since 1970
 * @property {(failure: EventBusError | null) => void} end nothing more comes; the failure is the reason, unless the application wanted it
 * @property {() => Promise<void>} unsubscribe ends it
 */

/** The subscriptions, services and consumers of a client, over all its connections. */
export class Registry {
  /** @type {Map<number, Registration>} */
  #byId = new Map();
  /** @type {Set<number>} ended by the application, and not yet by the bus */
  #ending = new Set();
  /** @type {Map<number, number>} time of the question about each that the bus has not answered */
  #asked = new Map();
  /** @type {Map<number, number>} start of the interruption of each that is not in force any more, in µs since 1970 */
  #away = new Map();
  #send;
  #sendNow;
  #now;
  #nextId = 1;
  #isConnected = false;
  /** @type {EventBusError | null} error of new calls after the end */
  #closed = null;
  /** Version of the set of subscriptions. */
  version = 0;

  // During a move: requests of the application that wait for its end, registrations whose end the old bus was asked for before, and those whose end
  // it has to confirm before the client leaves.
  /** @type {(() => void)[] | null} */
  #waiting = null;
  /** @type {Set<number>} */
  #endingHere = new Set();
  /** @type {Set<number>} */
  #leaving = new Set();
  /** @type {() => void} */
  #onLeft = () => {};

  /**
   * @param {(frame: Uint8Array) => void} send sends a frame behind the events that were published before
   * @param {(frame: Uint8Array) => void} sendNow sends a frame at once
   * @param {() => number} now
   */
  constructor(send, sendNow, now) {
    this.#send = send;
    this.#sendNow = sendNow;
    this.#now = now;
  }

  /** @returns {Iterable<Registration>} */
  get all() {
    return this.#byId.values();
  }

  /** @returns {number} */
  nextId() {
    return this.#nextId++;
  }

  /** @param {Registration} subscription a new subscription */
  add(subscription) {
    if (this.#closed) {
      throw new EventBusError('CLOSED', this.#closed.message, { cause: this.#closed.cause });
    }
    this.#byId.set(subscription.id, subscription);
    this.version++;
    this.#ask(subscription.id, subscription.beginFrame);
  }

  /**
   * @param {number} id
   * @param {Uint8Array} frame
   */
  #ask(id, frame) {
    if (this.#waiting) {
      this.#waiting.push(() => this.#ask(id, frame));
    } else if (this.#isConnected) {
      this.#asked.set(id, this.#now());
      this.#send(frame);
    }
  }

  /**
   * Sends a further frame about a registration, behind its begin.
   * @param {Registration} subscription
   * @param {Uint8Array} frame
   */
  update(subscription, frame) {
    if (this.#waiting) {
      this.#waiting.push(() => this.update(subscription, frame));
    } else if (this.#isConnected && this.#byId.get(subscription.id) === subscription) {
      this.#send(frame);
    }
  }

  /**
   * Sends a frame about a registration to the bus that has it, unless that is about to change.
   * @param {Registration} one
   * @param {() => Uint8Array} make returns the frame
   * @returns {boolean} whether it was sent
   */
  tell(one, make) {
    const may = this.#isConnected && !this.#waiting && this.#byId.get(one.id) === one;
    if (may) {
      this.#send(make());
    }
    return may;
  }

  /** @returns {boolean} whether the client is in a move */
  get isMoving() {
    return this.#waiting !== null;
  }

  /**
   * Expects no answer about a registration for now.
   * @param {number} id
   */
  postpone(id) {
    this.#asked.delete(id);
  }

  /**
   * Asks the bus again for a registration that it has ended, unless it is being asked.
   * @param {Registration} one
   */
  again(one) {
    if (this.#byId.get(one.id) === one && !this.#ending.has(one.id) && !this.#asked.has(one.id)) {
      this.#ask(one.id, one.beginFrame);
    }
  }

  /**
   * Ends a registration for the application; deliveries under way still come.
   * @param {Registration} subscription
   */
  unsubscribe(subscription) {
    const { id } = subscription;
    if (this.#byId.get(id) !== subscription || this.#ending.has(id)) {
      return;
    }
    this.#ending.add(id);
    if (this.#isConnected) {
      this.#ask(id, subscription.endFrame);
    } else {
      this.#remove(id, null);
    }
  }

  /**
   * Removes a registration, for which the bus sends nothing more.
   * @param {number} id
   * @param {EventBusError | null} failure
   */
  #remove(id, failure) {
    const subscription = this.#byId.get(id);
    this.#byId.delete(id);
    this.#ending.delete(id);
    this.#asked.delete(id);
    this.#away.delete(id);
    if (subscription) {
      this.version++;
      subscription.end(failure);
    }
  }

  /** Begins all registrations again over a new connection, ahead of the events that are sent again. */
  connected() {
    this.#isConnected = true;
    for (const subscription of this.all) {
      this.#asked.set(subscription.id, this.#now());
      this.#sendNow(subscription.beginFrame);
    }
  }

  /**
   * Handles the loss of the connection.
   * @param {number} from time of the last receipt, in µs since 1970
   */
  disconnected(from) {
    this.#isConnected = false;
    this.#asked.clear();
    this.#endMove();
    this.away(from);
    // Ended, because no bus is left that could send anything for them.
    for (const id of [...this.#ending]) {
      this.#remove(id, null);
    }
  }

  /**
   * Begins an interruption of all registrations in force, until a bus confirms them again.
   * @param {number} from in µs since 1970
   */
  away(from) {
    for (const one of this.all) {
      if (one.isConfirmed && !this.#away.has(one.id)) {
        this.#away.set(one.id, from);
      }
    }
  }

  /** @param {number} id that the bus has confirmed */
  confirmed(id) {
    const subscription = this.#byId.get(id);
    if (!this.#ending.has(id)) {
      this.#asked.delete(id);
    }
    if (subscription && !subscription.isConfirmed) {
      this.version++;
      subscription.confirm();
    }
    const from = this.#away.get(id);
    if (subscription && from !== undefined) {
      this.#away.delete(id);
      subscription.interrupted(from);
    }
  }

  /**
   * Handles the bus's answer that it sends nothing more for a registration.
   * @param {number} id
   */
  drained(id) {
    if (!this.#leaving.delete(id)) {
      this.#remove(id, null);
      return;
    }
    if (this.#endingHere.has(id)) {
      this.#remove(id, null);
    }
    if (this.#leaving.size === 0) {
      this.#onLeft();
    }
  }

  /**
   * Handles the bus's refusal of a registration.
   * @param {number} id
   * @param {EventBusError} failure
   * @returns {boolean} whether there is one
   */
  refused(id, failure) {
    const one = this.#byId.get(id);
    if (one && failure.busCode === 'DUPLICATE_SUBSCRIPTION' && this.#isConnected) {
      // The bus keeps the earlier registration: it has to be ended.
      this.#send(one.endFrame);
    }
    this.#remove(id, failure);
    return one !== undefined;
  }

  /** @returns {string | null} text about a missing answer of the bus; null for none */
  overdue() {
    const before = this.#now() - ANSWER_TIMEOUT;
    for (const [id, since] of this.#asked) {
      if (since <= before) {
        return `no answer about ${this.#byId.get(id) ?? id} within ${ANSWER_TIMEOUT} ms`;
      }
    }
    return null;
  }

  /** Ends all registrations in good order, and accepts no new ones. */
  close() {
    this.#closed = new EventBusError('CLOSED', 'the client is closed');
    for (const subscription of [...this.all]) {
      subscription.unsubscribe();
    }
  }

  /**
   * Ends all registrations at once, because the client has ended.
   * @param {EventBusError} why
   * @param {boolean} wanted whether the application has closed it
   */
  abandon(why, wanted) {
    this.#closed = why;
    this.#isConnected = false;
    for (const id of [...this.#byId.keys()]) {
      this.#remove(id, wanted ? null : why);
    }
  }

  // ---- Move to another bus

  /**
   * Begins a move: requests of the application wait until its end.
   * @returns {Registration[]} registrations to begin at the new bus
   */
  beginMove() {
    this.#waiting = [];
    this.#endingHere = new Set(this.#ending);
    return [...this.all].filter(s => !this.#ending.has(s.id));
  }

  /**
   * Returns the frames that end all registrations at the old bus.
   * @param {Map<number, Registration>} moved registrations that the new bus serves
   * @param {() => void} onLeft called when the old bus sends nothing more
   * @returns {Uint8Array[] | null} null if there is nothing to wait for
   */
  leave(moved, onLeft) {
    this.#endingHere = new Set([...this.#endingHere].filter(id => this.#ending.has(id)));
    this.#leaving = new Set([...moved.keys(), ...this.#endingHere]);
    if (this.#leaving.size === 0) {
      return null;
    }
    this.#onLeft = onLeft;
    return [...moved.values()].map(one => one.endFrame);
  }

  /**
   * Ends the move at the new bus, which serves these registrations; waiting requests are sent there.
   * @param {Map<number, Registration>} served
   */
  moved(served) {
    const late = this.#waiting ?? [];
    // Left before the old bus could confirm their end.
    for (const id of this.#endingHere) {
      this.#remove(id, null);
    }
    this.#endMove();
    this.#asked.clear();
    for (const [id, { endFrame }] of served) {
      if (!this.#byId.has(id)) {
        this.#ask(id, endFrame);
      }
    }
    late.forEach(request => request());
  }

  /** Ends the move at the old bus, which was not left; waiting requests are sent there. */
  stayed() {
    const late = this.#waiting ?? [];
    this.#endMove();
    late.forEach(request => request());
  }

  /** Ends the move at the old bus, which was left: begins all registrations again. */
  cameBack() {
    this.#endMove();
    this.connected();
    for (const id of this.#ending) {
      this.#sendNow(/** @type {Registration} */ (this.#byId.get(id)).endFrame);
    }
  }

  #endMove() {
    this.#waiting = null;
    this.#endingHere.clear();
    this.#leaving.clear();
    this.#onLeft = () => {};
  }
}
