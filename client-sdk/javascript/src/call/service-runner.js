import { EventBusError } from '../errors.js';
import { shorten } from '../bus-link.js';
import { encodeFailure, encodeReply } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import { failure, Rejection, unexpected } from './errors.js';
import { Reply } from './event.js';
import { ReceivedRequest } from './received-request.js';
import { RememberedReplies } from './remembered-replies.js';

/** @import {Invocation} from './invocation.js' */
/** @import {ServeSettings} from './options.js' */
/** @import {Target} from './received-request.js' */
/** @import {Answer} from './remembered-replies.js' */
/** @import {Channel} from '../internal.js' */
/** @import {FailureCode, RequestHandler, SendOptions, ServiceCounters} from '../types.js' */
/** @import {Failure, Invoke} from '../wire/call-frames.js' */

/**
 * The parts of its client that a runner uses.
 *
 * @typedef {object} RunnerHome
 * @property {() => number} now in ms
 * @property {(channel: Channel) => boolean} hasRoom whether more answers may be queued for the network; if not, `pump` is called when they may
 * @property {(payload: unknown, options: SendOptions) => {bytes: Uint8Array, schema: bigint}} encode
 * @property {(target: Target, received: ReceivedRequest, runner: ServiceRunner) => void} opened records that a connection waits for an answer
 * @property {(target: Target) => boolean} close removes that record; returns whether there was one
 * @property {(target: Target) => boolean} isOpen
 * @property {(channel: Channel, eventBytes: number) => boolean} takes whether the bus accepts a reply with an event of that size
 * @property {(channel: Channel, frame: Uint8Array[]) => void} send
 * @property {(error: unknown, invocation: Invocation) => void} failed reports a failed handler
 */

const NOTHING = new Uint8Array(0);
const MAX_MICROS = 2 ** 31 - 1;

/**
 * The requests to one service: those that wait, and those that its handler works on. A request occupies a place until its handler is done with it;
 * there are as many places as the service has concurrency, whichever connections the requests come over. Requests without a place wait, bounded in
 * bytes.
 */
export class ServiceRunner {
  #name;
  #settings;
  #handler;
  #home;
  /** @type {Set<ReceivedRequest>} */
  #waiting = new Set();
  #waitingBytes = 0;
  /** @type {Map<string, ReceivedRequest>} that are not answered */
  #known = new Map();
  #remembered;
  #running = 0;
  #counts = { received: 0, answered: 0, failed: 0, expired: 0, cancelled: 0, refused: 0, repeated: 0 };
  /** Called when no request is left. */
  onIdle = () => {};

  /**
   * @param {string} name
   * @param {ServeSettings} settings
   * @param {RequestHandler} handler
   * @param {RunnerHome} home
   */
  constructor(name, settings, handler, home) {
    this.#name = name;
    this.#settings = settings;
    this.#handler = handler;
    this.#home = home;
    this.#remembered = new RememberedReplies(settings.rememberReplies, settings.bufferBytes);
  }

  /** @returns {boolean} */
  get isIdle() {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  /** @returns {ServiceCounters} */
  counters() {
    return { ...this.#counts, running: this.#running, waiting: this.#waiting.size, waitingBytes: this.#waitingBytes };
  }

  // ---- Input

  /**
   * @param {Invoke} invoke
   * @param {Channel} channel
   */
  arrive(invoke, channel) {
    const received = new ReceivedRequest(this.#name, invoke, channel, this.#settings, this.#home.now);
    const target = /** @type {Target} */ (received.targets[0]);
    this.#counts.received++;
    const same = this.#known.get(received.key);
    const old = this.#remembered.get(received.key);
    if (same && !same.isCancelled) {
      this.#counts.repeated++;
      same.targets.push(target);
      this.#home.opened(target, same, this);
    } else if (old) {
      this.#counts.repeated++;
      this.#reply(target, old);
    } else if (this.#waiting.size > 0 && this.#waitingBytes + received.bytes > this.#settings.bufferBytes) {
      this.#counts.refused++;
      this.#sendFailure(target, failure('OVERLOADED', `the requests that wait in the member take ${this.#waitingBytes} bytes (expected: at most ${this.#settings.bufferBytes})`, 'NO'));
    } else {
      this.#home.opened(target, received, this);
      this.#known.set(received.key, received);
      this.#waiting.add(received);
      this.#waitingBytes += received.bytes;
      this.pump();
    }
  }

  /** @param {ReceivedRequest} received that one caller has cancelled */
  cancelled(received) {
    if (!received.isCancelled && received.cancelOne()) {
      this.#counts.cancelled++;
      if (this.#waiting.has(received)) {
        this.#take(received);
        this.#fail(received, 'CANCELLED', 'cancelled before it was begun with');
        this.#settle();
      }
    }
  }

  /** @param {ReceivedRequest} received */
  #take(received) {
    this.#waiting.delete(received);
    this.#waitingBytes -= received.bytes;
  }

  // ---- Handling

  /** Starts the handler for as many requests as there are free places. */
  pump() {
    for (const received of this.#waiting) {
      if (this.#running >= this.#settings.concurrency || !this.#home.hasRoom(/** @type {Target} */ (received.targets[0]).channel)) {
        return;
      }
      this.#take(received);
      if (!received.targets.some(this.#home.isOpen)) {
        this.#counts.cancelled++;
        this.#fail(received, 'CANCELLED', 'its connection is lost');
      } else if (received.invocation.remaining <= 0) {
        this.#counts.expired++;
        this.#fail(received, 'TIMEOUT', 'its time was over before it was begun with');
      } else {
        this.#begin(received);
      }
    }
    this.#settle();
  }

  /** @param {ReceivedRequest} received */
  #begin(received) {
    const begun = this.#home.now();
    this.#running++;
    try {
      const result = this.#handler(received.invocation);
      if (typeof /** @type {Promise<unknown> | null | undefined} */ (result)?.then === 'function') {
        Promise.resolve(result).then(value => this.#handled(received, begun, value), thrown => this.#threw(received, thrown)).then(() => this.pump());
        return;
      }
      this.#handled(received, begun, result);
    } catch (thrown) {
      this.#threw(received, thrown);
    }
  }

  /**
   * @param {ReceivedRequest} received
   * @param {number} begun
   * @param {unknown} value
   */
  #handled(received, begun, value) {
    this.#running--;
    let answer;
    try {
      const { payload, options } = value instanceof Reply ? value : { payload: value, options: {} };
      const { replyCodec } = this.#settings;
      const handledMicros = Math.min(MAX_MICROS, Math.floor((this.#home.now() - begun) * 1000));
      answer = {
        handledMicros, ...payload === undefined ? this.#home.encode(NOTHING, options)
          : this.#home.encode(payload, replyCodec && !options.codec ? { ...options, codec: replyCodec } : options),
      };
    } catch (thrown) {
      this.#unsendable(received, thrown);
      return;
    }
    this.#counts.answered++;
    this.#forget(received);
    if (this.#settings.rememberReplies > 0) {
      this.#remembered.add(received.key, answer);
    }
    for (const target of received.targets) {
      if (this.#home.close(target)) {
        this.#reply(target, answer);
      }
    }
  }

  /**
   * @param {ReceivedRequest} received
   * @param {unknown} thrown by the handler
   */
  #threw(received, thrown) {
    this.#running--;
    this.#counts.failed++;
    if (thrown instanceof Rejection) {
      const { code, message, type, details, retryAfter } = thrown;
      this.#answer(received, { code, message, type, details, retryAfter: Math.ceil(retryAfter), executed: code === 'FAILED' ? 'YES' : 'NO' });
    } else {
      this.#home.failed(thrown, received.invocation);
      this.#answer(received, unexpected(thrown));
    }
  }

  /**
   * @param {ReceivedRequest} received
   * @param {unknown} thrown of a reply that cannot be sent
   */
  #unsendable(received, thrown) {
    this.#counts.failed++;
    this.#home.failed(thrown, received.invocation);
    const isTooBig = thrown instanceof EventBusError && thrown.code === 'TOO_BIG';
    this.#answer(received, isTooBig ? failure('TOO_BIG', `the reply: ${thrown.message}`, 'YES') : unexpected(thrown));
  }

  /**
   * @param {ReceivedRequest} received without a started handler
   * @param {FailureCode} code
   * @param {string} message
   */
  #fail(received, code, message) {
    this.#answer(received, failure(code, message, 'NO'));
  }

  /**
   * @param {ReceivedRequest} received
   * @param {Omit<Failure, 'member'>} why
   */
  #answer(received, why) {
    this.#forget(received);
    for (const target of received.targets) {
      if (this.#home.close(target)) {
        this.#sendFailure(target, why);
      }
    }
  }

  /** @param {ReceivedRequest} received that is answered */
  #forget(received) {
    // After a cancellation the same request may have come again: then the entry belongs to that one.
    if (this.#known.get(received.key) === received) {
      this.#known.delete(received.key);
    }
  }

  /**
   * @param {Target} target
   * @param {Answer} answer
   */
  #reply(target, { handledMicros, schema, bytes }) {
    const { channel, call } = target;
    if (this.#home.takes(channel, bytes.length)) {
      this.#home.send(channel, encodeReply(call, handledMicros, schema, bytes));
    } else {
      this.#sendFailure(target, failure('TOO_BIG', `the reply: ${bytes.length} bytes, made for a bus that takes more`, 'YES'));
    }
  }

  /**
   * @param {Target} target
   * @param {Omit<Failure, 'member'>} why
   */
  #sendFailure({ channel, call }, why) {
    this.#home.send(channel, [encodeFailure(call, { ...why, message: shorten(why.message, LIMIT.failureMessageBytes) })]);
  }

  // ---- The end

  #settle() {
    if (this.isIdle) {
      this.onIdle();
    }
  }

  /** Gives up all requests that are here. */
  abandon() {
    for (const received of this.#waiting) {
      this.#take(received);
      this.#fail(received, 'REFUSED', 'the member has ended');
    }
    this.#known.forEach(received => received.cancel());
  }
}
