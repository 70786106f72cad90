import { EventBusError } from './errors.js';

/** How long a bus may take to say that something begins or ends. */
const TIMEOUT = 10_000;

/**
 * What a bus is asked for on every connection: a subscription, or a service.
 *
 * @typedef {object} Registration
 * @property {number} id unique among all
 * @property {string | null} group that it shares events with; null for none
 * @property {boolean} isConfirmed whether a bus has confirmed it
 * @property {boolean} isExclusive whether nobody else gets what the bus has sent for it
 * @property {boolean} isFinished whether all that came was handled, and nothing more comes
 * @property {Uint8Array} beginFrame asks for it
 * @property {Uint8Array} endFrame asks for its end
 * @property {(topic: string) => boolean} matches whether events of the topic are for it
 * @property {() => void} confirm the bus has confirmed it
 * @property {(from: number) => void} interrupted the bus has confirmed it again, after a time without it that began at `from`, in µs since 1970
 * @property {(failure: EventBusError | null) => void} end nothing more comes; the failure says why, if the application did not want that
 * @property {() => Promise<void>} unsubscribe ends it
 */

/** The subscriptions and services of a client, over all its connections. */
export class Registry {
  /** @type {Map<number, Registration>} */
  #byId = new Map();
  /** @type {Set<number>} whose end the application wants */
  #ending = new Set();
  /** @type {Map<number, number>} when the bus was asked about each that it has not answered */
  #asked = new Map();
  /** @type {Map<number, number>} that were in force and are not now: since when, in µs since 1970 */
  #away = new Map();
  #say;
  #sayNow;
  #now;
  #nextId = 1;
  #isConnected = false;
  /** @type {EventBusError | null} what calls fail with from now on */
  #closed = null;
  /** Changes with the subscriptions. */
  version = 0;

  // While the client changes the bus: what is to be said then, whose end the old bus was asked for before, and whose it has to say
  // before the client leaves.
  /** @type {(() => void)[] | null} */
  #waiting = null;
  /** @type {Set<number>} */
  #endingHere = new Set();
  /** @type {Set<number>} */
  #leaving = new Set();
  /** @type {() => void} */
  #onLeft = () => {};

  /**
   * @param {(frame: Uint8Array) => void} say sends a frame to the bus, behind the events that were published before
   * @param {(frame: Uint8Array) => void} sayNow sends it at once
   * @param {() => number} now
   */
  constructor(say, sayNow, now) {
    this.#say = say;
    this.#sayNow = sayNow;
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

  /** @param {Registration} subscription a new one */
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
      this.#say(frame);
    }
  }

  /**
   * Says more of what the bus was asked for, behind that.
   * @param {Registration} subscription
   * @param {Uint8Array} frame
   */
  tell(subscription, frame) {
    if (this.#waiting) {
      this.#waiting.push(() => this.tell(subscription, frame));
    } else if (this.#isConnected && this.#byId.get(subscription.id) === subscription) {
      this.#say(frame);
    }
  }

  /**
   * The application wants no more of it; what is under way still comes.
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
   * The bus sends nothing more for it.
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

  /** A connection is ready: asks for everything again, ahead of the events that are sent again. */
  connected() {
    this.#isConnected = true;
    for (const subscription of this.all) {
      this.#asked.set(subscription.id, this.#now());
      this.#sayNow(subscription.beginFrame);
    }
  }

  /**
   * The connection is lost.
   * @param {number} from when it was heard last, in µs since 1970
   */
  disconnected(from) {
    this.#isConnected = false;
    this.#asked.clear();
    this.#endMove();
    this.away(from);
    // There is no bus left that could send anything for these.
    for (const id of [...this.#ending]) {
      this.#remove(id, null);
    }
  }

  /**
   * What was in force is not, until the bus confirms it again.
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
   * The bus sends nothing more for a subscription.
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
   * The bus does not serve a subscription.
   * @param {number} id
   * @param {EventBusError} failure
   * @returns {boolean} whether there is one
   */
  refused(id, failure) {
    const one = this.#byId.get(id);
    if (one && failure.busCode === 'DUPLICATE_SUBSCRIPTION' && this.#isConnected) {
      // The bus keeps the older one.
      this.#say(one.endFrame);
    }
    this.#remove(id, failure);
    return one !== undefined;
  }

  /** @returns {string | null} what the bus did not answer in time */
  overdue() {
    const before = this.#now() - TIMEOUT;
    for (const [id, since] of this.#asked) {
      if (since <= before) {
        return `no answer about ${this.#byId.get(id) ?? id} within ${TIMEOUT} ms`;
      }
    }
    return null;
  }

  /** Ends all of them in good order, and takes no new ones. */
  close() {
    this.#closed = new EventBusError('CLOSED', 'the client is closed');
    for (const subscription of [...this.all]) {
      this.unsubscribe(subscription);
    }
  }

  /**
   * Ends all of them at once, because the client has ended.
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

  // ---- A change of bus

  /**
   * A change begins: what the application asks for waits until its end.
   * @returns {Registration[]} what has to be asked for at the new bus
   */
  beginMove() {
    this.#waiting = [];
    this.#endingHere = new Set(this.#ending);
    return [...this.all].filter(s => !this.#ending.has(s.id));
  }

  /**
   * What has to be said to the old bus so that it sends no more.
   * @param {Map<number, Registration>} moved what the new bus serves
   * @param {() => void} onLeft is called when the old bus sends nothing more
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
   * The client is at the new bus, which serves these; what waited is said there.
   * @param {Map<number, Registration>} served
   */
  moved(served) {
    const late = this.#waiting ?? [];
    // The old bus cannot end these any more.
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
    late.forEach(say => say());
  }

  /** The client stays, and has not left; what waited is said to the old bus. */
  stayed() {
    const late = this.#waiting ?? [];
    this.#endMove();
    late.forEach(say => say());
  }

  /** The client has left, and comes back: asks for everything again. */
  cameBack() {
    this.#endMove();
    this.connected();
    for (const id of this.#ending) {
      this.#sayNow(/** @type {Registration} */ (this.#byId.get(id)).endFrame);
    }
  }

  #endMove() {
    this.#waiting = null;
    this.#endingHere.clear();
    this.#leaving.clear();
    this.#onLeft = () => {};
  }
}
