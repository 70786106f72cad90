import { encodeCancel } from '../wire/call-frames.js';
import { CallError } from './errors.js';
import { RequestCall } from './request-call.js';

/** @import {EventBusError} from '../errors.js' */
/** @import {RequestSettings} from './options.js' */
/** @import {Response} from './event.js' */
/** @import {Channel, Environment} from '../internal.js' */
/** @import {Failure, Reply} from '../wire/call-frames.js' */
/** @import {Welcome} from '../wire/frames.js' */

// Additional wait after the timeout for the answer of the bus, which says whether a request was executed, in ms.
const VERDICT_TIMEOUT = 50;

/**
 * @typedef {object} PendingHome
 * @property {Environment} env
 * @property {() => void} wake is called when a request waits to be sent
 * @property {(channel: Channel, frame: Uint8Array[]) => void} send sends a frame over one connection
 * @property {() => void} onIdle is called when the last request has its outcome
 */

/**
 * The requests without an outcome, over all connections. A request is kept here from beginning to end; only an answer over the connection that it was
 * sent over counts.
 */
export class PendingCalls {
  #home;
  #maxBytes;
  #usedBytes = 0;
  #next = 1;
  /** @type {Map<number, RequestCall>} */
  #calls = new Map();
  /** @type {Set<RequestCall>} in the order in which they are sent */
  #waiting = new Set();
  /** @type {EventBusError | null} error of new requests after the end */
  #closed = null;

  /**
   * @param {PendingHome} home
   * @param {number} maxBytes of requests that are not sent, or may be sent again
   */
  constructor(home, maxBytes) {
    this.#home = home;
    this.#maxBytes = maxBytes;
  }

  /** @returns {boolean} */
  get isWaiting() {
    return this.#waiting.size > 0;
  }

  /** @returns {boolean} */
  get isIdle() {
    return this.#calls.size === 0;
  }

  /**
   * @param {RequestSettings} settings
   * @param {{bytes: Uint8Array, schema: bigint}} event
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<Response>}
   */
  request(settings, event, signal) {
    const { env } = this.#home;
    const cost = RequestCall.costOf(event.bytes);
    if (this.#closed) {
      throw new CallError('CLOSED', this.#closed.message, 'NO', { cause: this.#closed.cause });
    }
    if (this.#usedBytes + cost > this.#maxBytes) {
      throw new CallError('OVERLOADED', `the requests that wait in this client take ${this.#usedBytes} bytes, and this one ${cost} `
        + `(expected: at most ${this.#maxBytes} together, callBytes)`, 'NO');
    }
    return new Promise((resolve, reject) => {
      const call = new RequestCall(this.#next++, settings, event, env.now() + settings.timeout, { resolve, reject });
      this.#calls.set(call.number, call);
      this.#usedBytes += cost;
      call.timer = env.setTimeout(() => this.#due(call), settings.timeout);
      if (signal) {
        const abort = () => this.#cancel(call, signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        call.forget = () => signal.removeEventListener('abort', abort);
      }
      this.#wait(call);
    });
  }

  /** @param {RequestCall} call */
  #wait(call) {
    this.#waiting.add(call);
    this.#home.wake();
  }

  /** @param {RequestCall} call that has its outcome */
  #settle(call) {
    const { env, onIdle } = this.#home;
    call.become('DONE');
    env.clearTimeout(/** @type {never} */ (call.timer));
    call.forget();
    this.#calls.delete(call.number);
    this.#waiting.delete(call);
    this.#release(call);
    if (this.#calls.size === 0) {
      onIdle();
    }
  }

  /** @param {RequestCall} call */
  #release(call) {
    this.#usedBytes -= call.cost;
    call.cost = 0;
    call.dropEvent();
  }

  /**
   * @param {RequestCall} call
   * @param {unknown} error
   */
  #fail(call, error) {
    this.#settle(call);
    call.outcome.reject(error);
  }

  /**
   * @param {RequestCall} call
   * @param {unknown} reason
   */
  #cancel(call, reason) {
    const { over } = call;
    this.#fail(call, reason);
    if (over) {
      this.#home.send(over, [encodeCancel(call.number)]);
    }
  }

  /** @param {RequestCall} call whose timeout has passed */
  #due(call) {
    if (call.state === 'SENT' && !call.isLate) {
      call.isLate = true;
      call.timer = this.#home.env.setTimeout(() => this.#due(call), VERDICT_TIMEOUT);
      return;
    }
    this.#fail(call, call.error('TIMEOUT', `${call.service} did not answer in time${call.state === 'SENT' ? '' : ': the request was not sent, or not again'}`));
  }

  // ---- Connections

  /**
   * @param {Channel} channel
   * @param {Welcome} welcome of its bus
   * @param {number} max bytes
   * @returns {Uint8Array[]} a message of requests; empty if none can be sent
   */
  take(channel, { bus, calls, limits }, max) {
    /** @type {Uint8Array[]} */
    const chunks = [];
    let bytes = 0;
    const now = this.#home.env.now();
    for (const call of this.#waiting) {
      if (calls === 0) {
        this.#fail(call, call.error('UNSUPPORTED', `the bus ${bus} has no services: the request to ${call.service} is not sent`));
      } else if (call.size > limits.messageBytes) {
        this.#fail(call, call.error('TOO_BIG', `the bus ${bus} takes messages of at most ${limits.messageBytes} bytes: the request to ${call.service} is not sent`));
      } else if (call.deadline > now) {
        if (bytes > 0 && bytes + call.size > max) {
          break;
        }
        bytes += call.size;
        this.#waiting.delete(call);
        chunks.push(...call.sending(channel, call.deadline - now));
        if (!call.mayBeSentAgain) {
          this.#release(call);
        }
      } else {
        // Timed out: its timer is about to settle it.
        this.#waiting.delete(call);
      }
    }
    return chunks;
  }

  /** @param {Channel} channel that is lost, or whose time to end its calls has passed */
  lost(channel) {
    const now = this.#home.env.now();
    for (const call of this.#calls.values()) {
      if (call.isSentOver(channel)) {
        if (call.lost(now)) {
          this.#wait(call);
        } else {
          this.#fail(call, call.error('BUS_LOST', `the connection was lost before ${call.service} answered: the request may or may not have been executed`));
        }
      }
    }
  }

  /**
   * @param {Channel} channel
   * @returns {boolean} whether no answer is to come over it
   */
  isQuiet(channel) {
    return ![...this.#calls.values()].some(call => call.isSentOver(channel));
  }

  // ---- Answers of the bus

  /**
   * @param {Reply} reply
   * @param {Channel} channel
   */
  replied(reply, channel) {
    const call = this.#calls.get(reply.call);
    if (call?.isSentOver(channel)) {
      this.#settle(call);
      call.outcome.resolve(call.response(reply));
    }
  }

  /**
   * @param {{call: number} & Failure} failure
   * @param {Channel} channel
   */
  failed(failure, channel) {
    const { env } = this.#home;
    const call = this.#calls.get(failure.call);
    if (!call?.isSentOver(channel)) {
      return;
    }
    const next = call.failed(failure, env.now(), env.random());
    if (typeof next === 'number') {
      const { timer } = call;
      env.clearTimeout(/** @type {never} */ (timer));
      call.timer = env.setTimeout(() => this.#goOn(call), next);
    } else {
      this.#fail(call, next);
    }
  }

  /** @param {RequestCall} call whose retry pause has passed */
  #goOn(call) {
    const { env } = this.#home;
    call.isLate = false;
    call.timer = env.setTimeout(() => this.#due(call), Math.max(0, call.deadline - env.now()));
    call.become('WAITING');
    this.#wait(call);
  }

  // ---- The end

  /** @param {EventBusError} why error of new requests */
  drain(why) {
    this.#closed ??= why;
  }

  /** @param {EventBusError} why the client has ended */
  end(why) {
    this.drain(why);
    for (const call of this.#calls.values()) {
      this.#fail(call, call.error('CANCELLED', `${why.message}, before ${call.service} answered`));
    }
  }
}
