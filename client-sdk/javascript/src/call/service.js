import { deferred } from '../deferred.js';
import { EventBusError } from '../errors.js';
import { refuseUnknown } from '../options.js';
import { encodeCapacity, encodeRegister } from '../wire/call-frames.js';
import { encodeId } from '../wire/frames.js';
import * as TYPE from '../wire/type.js';

/** @import {Serving} from './options.js' */
/** @import {ServiceRunner} from './service-runner.js' */
/** @import {Environment} from '../internal.js' */
/** @import {ServiceCounters} from '../types.js' */

const CLOSE_TIMEOUT = 10_000;

/**
 * What a service needs of its client.
 *
 * @typedef {object} ServiceHome
 * @property {Environment} env
 * @property {(service: Service) => void} unserve asks the bus for its end
 * @property {(service: Service, frame: Uint8Array) => void} tell says more of it to the bus
 * @property {(error: EventBusError) => void} problem nobody waited for what was refused
 * @property {(service: Service) => void} finished nothing is to be done for it any more
 */

/** A service that this client is a member of, over all its connections. */
export class Service {
  /**
   * Whether a bus has confirmed it.
   * @internal
   */
  isConfirmed = false;
  #serving;
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
   * @param {Serving} serving
   * @param {ServiceRunner} runner
   * @param {ServiceHome} home
   * @internal
   */
  constructor(id, name, serving, runner, home) {
    /** @readonly */
    this.id = id;
    /** @readonly */
    this.name = name;
    this.#serving = serving;
    this.#runner = runner;
    this.#home = home;
    runner.onIdle = () => this.#settle();
  }

  /**
   * Resolves when the bus has confirmed the member for the first time; rejects with REFUSED, or with CLOSED when it has ended before. While
   * there is no connection it waits for one.
   * @returns {Promise<this>} itself
   */
  get ready() {
    this.#isAwaited = true;
    return this.#ready.promise;
  }

  /** @returns {ServiceCounters} what has happened until now */
  counters() {
    return this.#runner.counters();
  }

  /** @returns {boolean} */
  get isPaused() {
    return this.#isPaused;
  }

  /** Takes no more requests until `resume`; those that are here are answered, and some may be on their way. */
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
      this.#home.tell(this, encodeCapacity(this.id, this.#concurrency));
    }
  }

  get #concurrency() {
    return this.#isPaused ? 0 : this.#serving.concurrency;
  }

  /**
   * Ends the service: takes no more requests, and waits until those that are here are answered. After the time-out those that wait are
   * refused, and the signals of the others are aborted. Not to be awaited inside of the service's own handler, which it waits for.
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
   * @param {AbortSignal | undefined} signal ends it, too
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

  // ---- What a Registration is

  /**
   * @returns {null}
   * @internal
   */
  get group() {
    return null;
  }

  /**
   * Whether nobody else gets what the bus has sent for it.
   * @internal
   */
  get isExclusive() {
    return true;
  }

  /** Whether no request comes any more. */
  get isEnded() {
    return this.#isEnded;
  }

  /**
   * Whether all that came was answered, and nothing more comes.
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
    const { identify, version, metadata } = this.#serving;
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
   * The bus has confirmed it.
   * @internal
   */
  confirm() {
    this.isConfirmed = true;
    this.#ready.resolve(this);
  }

  /**
   * Its callers are told what has become of their requests.
   * @internal
   */
  interrupted() {}

  /**
   * No request comes any more; those that are here are still answered.
   * @param {EventBusError | null} failure why, if not because the application wanted it
   * @internal
   */
  end(failure) {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#ready.reject(failure ?? new EventBusError('CLOSED', `${this} has ended`));
    // After a new token the bus may refuse what it has confirmed, and nobody awaits that.
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
   * What is here is not waited for any longer.
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
