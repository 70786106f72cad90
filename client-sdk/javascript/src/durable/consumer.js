import { deferred } from '../deferred.js';
import { EventBusError } from '../errors.js';

/** @import {BusLink} from '../bus-link.js' */
/** @import {BusEvent} from '../event.js' */
/** @import {DurableHome} from '../internal.js' */
/** @import {Truncated} from '../types.js' */
/** @import {ConsumeSettings} from './options.js' */

/**
 * @typedef {object} Listener
 * @property {() => void} ended
 * @property {(truncated: Truncated) => void} truncated
 * @property {(error: unknown, event: BusEvent | null) => void} failed
 */

// Delay until a bus is asked again that has ended a consumer, in ms.
const ASK_DELAY = 1000;

/** Consumer of durable topics, as its client and the buses see it: asks again where a bus has ended it, and ends once. */
export class Consumer {
  /**
   * Set once a bus has confirmed it.
   * @internal
   */
  isConfirmed = false;
  /**
   * Set when the application ends it.
   * @internal
   */
  isStopping = false;
  /**
   * Set when nothing more comes.
   * @internal
   */
  isEnded = false;
  /**
   * Set when the handler did not return in time.
   * @internal
   */
  isGivenUp = false;
  /**
   * Number of calls of the handler that are under way.
   * @internal
   */
  running = 0;
  /**
   * Set while it has a reader.
   * @internal
   */
  isRead = false;
  /**
   * Error of the reader at the end; undefined for none.
   * @type {unknown}
   * @internal
   */
  failure;
  #settings;
  #home;
  #listener;
  #isAwaited = false;
  // Connections whose buses have ended it.
  /** @type {Set<BusLink>} */
  #endedAt = new Set();
  /** @type {unknown} */
  #askTimer = null;
  #release = () => {};
  #ready = /** @type {PromiseWithResolvers<this>} */ (deferred());
  #finished = /** @type {PromiseWithResolvers<void>} */ (deferred());

  /**
   * Made by the SDK.
   * @param {number} id
   * @param {ConsumeSettings} settings
   * @param {DurableHome} home
   * @param {Listener} listener
   * @internal
   */
  constructor(id, settings, home, listener) {
    /** @readonly */
    this.id = id;
    /**
     * Name under which the bus remembers what is handled; empty for none.
     * @readonly
     */
    this.name = settings.name;
    /** @readonly */
    this.filter = settings.filter;
    this.#settings = settings;
    this.#home = home;
    this.#listener = listener;
    const { signal } = settings;
    if (signal) {
      const abort = () => {
        this.failure = signal.reason;
        this.#ready.reject(signal.reason);
        this.unsubscribe();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#release = () => signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Resolves when the bus has accepted the consumer. With a name it may stand by then, because another one has the durable subscription; a worker does
   * not. Rejects with REFUSED, with CLOSED when it has ended before, or with the signal's reason. While there is no connection it waits for one.
   * @returns {Promise<this>} itself
   */
  get ready() {
    this.#isAwaited = true;
    return this.#ready.promise;
  }

  /**
   * Ends the consumer: the handler finishes its events, and the bus is told what is handled. With a name, other consumers get the events that wait in
   * this client, and those that a reader has and that are not settled. A handler that works on one event for longer than `closeTimeout` is not waited
   * for, and its event comes again.
   * @returns {Promise<void>} resolves at the end
   */
  unsubscribe() {
    if (!this.isOver) {
      this.isStopping = true;
      this.stop();
    }
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
   * Handles the application's wish for the end.
   * @internal
   */
  stop() {}

  /**
   * @returns {boolean}
   * @internal
   */
  get isOver() {
    return this.isStopping || this.isEnded;
  }

  /**
   * Checks that the application may begin to read.
   * @param {unknown} handler
   * @internal
   */
  beginReading(handler) {
    if (handler || this.isRead) {
      throw new TypeError(`${this}: ${handler ? 'has a handler' : 'iterated already'} (expected: one reader)`);
    }
    this.isRead = true;
  }

  // ---- What the bus says

  /**
   * Records that a bus has accepted it.
   * @param {BusLink} link
   * @internal
   */
  acceptedBy(link) {
    this.#endedAt.delete(link);
  }

  /**
   * Records that the bus has no durable topics: the consumer waits for another one.
   * @param {EventBusError} failure
   * @returns {boolean} whether a call waits for it
   * @internal
   */
  refusedHere(failure) {
    this.#ready.reject(failure);
    return this.#isAwaited && !this.isConfirmed;
  }

  /**
   * Records that the bus has ended it, which is asked again later.
   * @param {BusLink} link
   * @internal
   */
  endedBy(link) {
    this.lost(link);
    this.#endedAt.add(link);
    this.#askLater();
  }

  #askLater() {
    const { env, registry } = this.#home;
    env.clearTimeout(/** @type {never} */ (this.#askTimer));
    this.#askTimer = env.setTimeout(() => {
      if (registry.isMoving) {
        // Until it is known at which bus the client is.
        this.#askLater();
      } else if ([...this.#endedAt].some(link => link.isCurrent)) {
        registry.again(/** @type {never} */ (this));
      }
    }, ASK_DELAY);
  }

  /**
   * @param {BusLink} link that has ended
   * @internal
   */
  lost(link) {
    this.#endedAt.delete(link);
  }

  // ---- The end

  /**
   * Records that nothing more comes from the bus.
   * @param {EventBusError | null} failure why, if not because the application wanted it
   * @internal
   */
  end(failure) {
    this.isEnded = true;
    this.#home.env.clearTimeout(/** @type {never} */ (this.#askTimer));
    this.#release();
    this.failure ??= failure ?? undefined;
    this.#ready.reject(failure ?? new EventBusError('CLOSED', `${this} has ended`));
    if (failure?.code === 'REFUSED' && (this.isConfirmed || !this.#isAwaited) && !this.isRead) {
      this.#home.problem(failure);
    }
    this.#listener.ended();
    this.finishIfIdle();
  }

  /**
   * Tells whether nothing more comes, and the handler has returned.
   * @internal
   */
  get isFinished() {
    return this.isEnded && (this.running === 0 || this.isGivenUp);
  }

  /** @internal */
  finishIfIdle() {
    if (this.isFinished) {
      this.#finished.resolve();
    }
  }

  // ---- Registration

  /**
   * @returns {ConsumeSettings['codec']}
   * @internal
   */
  get codec() {
    return this.#settings.codec;
  }

  /**
   * @returns {null}
   * @internal
   */
  get group() {
    return null;
  }

  /**
   * @returns {boolean} its events come in frames of their own
   * @internal
   */
  matches() {
    return false;
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
   * Does nothing: the consumer goes on where it was.
   * @internal
   */
  interrupted() {}
}
