import { deferred } from '../deferred.js';
import { EventBusError } from '../errors.js';
import { refuseUnknown } from '../options.js';
import { encodeCapacity, encodeRegister } from '../wire/call-frames.js';
import { encodeId } from '../wire/frames.js';
import * as TYPE from '../wire/type.js';

/** @import {ServeSettings} from './options.js' */
/** @import {ServiceRunner} from './service-runner.js' */
/** @import {Environment} from '../internal.js' */
/** @import {ServiceCounters} from '../types.js' */

const CLOSE_TIMEOUT = 10_000;

/**
 * The parts of its client that a service uses.
 *
 * @typedef {object} ServiceHome
 * @property {Environment} env
 * @property {(service: Service) => void} unserve asks the bus for its end
 * @property {(service: Service, frame: Uint8Array) => void} update sends a further frame about it to the bus
 * @property {(error: EventBusError) => void} problem reports a refusal that no call waits for
 * @property {(service: Service) => void} finished is called when it has ended completely
 */

/** A service that this client is a member of, over all its connections. */
export class Service {
  /**
   * Set once a bus has confirmed the service.
   * @internal
   */
  isConfirmed = false;
  #settings;
  #runner;
  #home;
  #isPaused = false;
  #isEnded = false;
  #isAwaited = false;
  #ready = /** @type {PromiseWithResolvers<this>} */ (deferred());
  #closed = /** @type {PromiseWithResolvers<boolean>} */ (deferred());

  /**
   * Made by the client.
   * @param {number} id
   * @param {string} name
   * @param {ServeSettings} settings
   * @param {ServiceRunner} runner
   * @param {ServiceHome} home
   * @internal
   */
  constructor(id, name, settings, runner, home) {
    /** @readonly */
    this.id = id;
    /** @readonly */
    this.name = name;
    this.#settings = settings;
    this.#runner = runner;
    this.#home = home;
    runner.onIdle = () => this.#settle();
  }

  /**
   * Resolves when the bus has confirmed the member for the first time; rejects with REFUSED, or with CLOSED when the service has ended before.
   * Without a connection it waits for one.
   * @returns {Promise<this>} itself
   */
  get ready() {
    this.#isAwaited = true;
    return this.#ready.promise;
  }

  /** @returns {ServiceCounters} figures since the beginning */
  counters() {
    return this.#runner.counters();
  }

  /** @returns {boolean} */
  get isPaused() {
    return this.#isPaused;
  }

  /** Takes no more requests until `resume`; those that are here are answered, and a few may still arrive. */
  pause() {
    this.#pause(true);
  }

  /** Takes requests again. */
  resume() {
    this.#pause(false);
  }

  /** @param {boolean} paused */
  #pause(paused) {
    if (this.#isPaused !== paused) {
      this.#isPaused = paused;
      this.#home.update(this, encodeCapacity(this.id, this.#concurrency));
    }
  }

  get #concurrency() {
    return this.#isPaused ? 0 : this.#settings.concurrency;
  }

  /**
   * Ends the service: takes no more requests, and waits until those that are here are answered. After the timeout those that wait are refused, and
   * the signals of the others are aborted. Do not await it in the service's own handler: it waits for that.
   * @param {{timeout?: number}} [options] ms, default 10,000
   * @returns {Promise<boolean>} whether all were answered; the same for every call
   */
  close(options = {}) {
    refuseUnknown(options, ['timeout'], '');
    const { timeout = CLOSE_TIMEOUT } = options;
    const { env } = this.#home;
    this.#home.unserve(this);
    const timer = env.setTimeout(() => this.abandon(), timeout);
    return this.#closed.promise.finally(() => env.clearTimeout(/** @type {never} */ (timer)));
  }

  /**
   * The same as `close`, for `await using`.
   * @returns {Promise<void>}
   */
  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /**
   * @param {AbortSignal | undefined} signal ends the service when aborted
   * @internal
   */
  endWith(signal) {
    if (signal) {
      const abort = () => {
        this.#ready.reject(signal.reason);
        this.close();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#closed.promise.finally(() => signal.removeEventListener('abort', abort));
    }
  }

  #settle() {
    if (this.isFinished) {
      this.#closed.resolve(true);
      this.#home.finished(this);
    }
  }

  // ---- Registration

  /**
   * @returns {null}
   * @internal
   */
  get group() {
    return null;
  }

  /**
   * Tells whether no other client gets the requests that a bus has sent for this one.
   * @internal
   */
  get isExclusive() {
    return true;
  }

  /** Tells whether no more requests come. */
  get isEnded() {
    return this.#isEnded;
  }

  /**
   * Tells whether all requests were answered and no more come.
   * @internal
   */
  get isFinished() {
    return this.#isEnded && this.#runner.isIdle;
  }

  /**
   * @returns {Uint8Array}
   * @internal
   */
  get beginFrame() {
    const { identify, version, metadata } = this.#settings;
    return encodeRegister({ id: this.id, service: this.name, concurrency: this.#concurrency, identify, version, metadata });
  }

  /**
   * @returns {Uint8Array}
   * @internal
   */
  get endFrame() {
    return encodeId(TYPE.UNREGISTER, this.id);
  }

  /**
   * @returns {boolean} services have no topics
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
   * Does nothing: the callers learn what has become of their requests.
   * @internal
   */
  interrupted() {}

  /**
   * Records that no more requests come; those that are here are still answered.
   * @param {EventBusError | null} failure why, if not because the application wanted it
   * @internal
   */
  end(failure) {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#ready.reject(failure ?? new EventBusError('CLOSED', `${this} has ended`));
    // After a new token the bus may refuse a service that it has confirmed, and no call awaits that.
    if (failure?.code === 'REFUSED' && (this.isConfirmed || !this.#isAwaited)) {
      this.#home.problem(failure);
    }
    this.#settle();
  }

  /**
   * @returns {Promise<void>} when it is finished
   * @internal
   */
  async unsubscribe() {
    this.#home.unserve(this);
    await this.#closed.promise;
  }

  /**
   * Gives up all requests that are here.
   * @internal
   */
  abandon() {
    this.#runner.abandon();
    this.#closed.resolve(false);
  }

  /** @returns {string} for people */
  toString() {
    return `service ${this.name}`;
  }
}
