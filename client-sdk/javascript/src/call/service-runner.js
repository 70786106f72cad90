import { EventBusError } from '../errors.js';
import { shorten } from '../bus-link.js';
import { encodeFailure, encodeReply } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import { failure, Rejection, unexpected } from './errors.js';
import { Reply } from './event.js';
import { Received } from './received.js';
import { RememberedReplies } from './remembered.js';

/** @import {Invocation} from './invocation.js' */
/** @import {Serving} from './options.js' */
/** @import {Target} from './received.js' */
/** @import {Answer} from './remembered.js' */
/** @import {Channel} from '../internal.js' */
/** @import {FailureCode, RequestHandler, SendOptions, ServiceCounters} from '../types.js' */
/** @import {Failure, Invoke} from '../wire/call-frames.js' */

/**
 * What a runner needs of its client.
 *
 * @typedef {object} RunnerHome
 * @property {() => number} now in ms
 * @property {(channel: Channel) => boolean} hasRoom whether answers may be added to those that the network has not taken; if not, `pump` is
 *   called when it may be so
 * @property {(payload: unknown, options: SendOptions) => {bytes: Uint8Array, schema: bigint}} encode
 * @property {(target: Target, received: Received, runner: ServiceRunner) => void} opened a connection waits for an answer
 * @property {(target: Target) => boolean} close whether the connection still waits for it; it does not any more
 * @property {(target: Target) => boolean} isOpen
 * @property {(channel: Channel, eventBytes: number) => boolean} takes whether the bus takes a reply with such an event
 * @property {(channel: Channel, frame: Uint8Array[]) => void} say
 * @property {(error: unknown, invocation: Invocation) => void} failed tells of a handler
 */

const NOTHING = new Uint8Array(0);
const MAX_MICROS = 2 ** 31 - 1;

/**
 * The requests to one service: those that wait, and those that its handler is at. A request takes a place until its handler is done with it;
 * there are as many places as the service has concurrency, whichever connections the requests come over. What finds no place waits, bounded
 * in bytes.
 */
export class ServiceRunner {
  #name;
  #serving;
  #handler;
  #home;
  /** @type {Set<Received>} */
  #waiting = new Set();
  #waitingBytes = 0;
  /** @type {Map<string, Received>} that are not answered */
  #known = new Map();
  #remembered;
  #running = 0;
  #counts = { received: 0, answered: 0, failed: 0, expired: 0, cancelled: 0, refused: 0, repeated: 0 };
  /** Is called when no request is here any more. */
  onIdle = () => {};

  /**
   * @param {string} name
   * @param {Serving} serving
   * @param {RequestHandler} handler
   * @param {RunnerHome} home
   */
  constructor(name, serving, handler, home) {
    this.#name = name;
    this.#serving = serving;
    this.#handler = handler;
    this.#home = home;
    this.#remembered = new RememberedReplies(serving.rememberReplies, serving.bufferBytes);
  }

  /** @returns {boolean} */
  get isIdle() {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  /** @returns {ServiceCounters} */
  counters() {
    return { ...this.#counts, running: this.#running, waiting: this.#waiting.size, waitingBytes: this.#waitingBytes };
  }

  // ---- What comes

  /**
   * @param {Invoke} invoke
   * @param {Channel} channel
   */
  arrive(invoke, channel) {
    const received = new Received(this.#name, invoke, channel, this.#serving, this.#home.now);
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
    } else if (this.#waiting.size > 0 && this.#waitingBytes + received.bytes > this.#serving.bufferBytes) {
      this.#counts.refused++;
      this.#say(target, failure('OVERLOADED', `the requests that wait in the member take ${this.#waitingBytes} bytes (expected: at most ${this.#serving.bufferBytes})`, 'NO'));
    } else {
      this.#home.opened(target, received, this);
      this.#known.set(received.key, received);
      this.#waiting.add(received);
      this.#waitingBytes += received.bytes;
      this.pump();
    }
  }

  /** @param {Received} received for which one caller does not wait any more */
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

  /** @param {Received} received */
  #take(received) {
    this.#waiting.delete(received);
    this.#waitingBytes -= received.bytes;
  }

  // ---- What is done about it

  /** Begins with as many requests as there are places. */
  pump() {
    for (const received of this.#waiting) {
      if (this.#running >= this.#serving.concurrency || !this.#home.hasRoom(/** @type {Target} */ (received.targets[0]).channel)) {
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

  /** @param {Received} received */
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
   * @param {Received} received
   * @param {number} begun
   * @param {unknown} value
   */
  #handled(received, begun, value) {
    this.#running--;
    let answer;
    try {
      const { payload, options } = value instanceof Reply ? value : { payload: value, options: {} };
      const { replyCodec } = this.#serving;
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
    if (this.#serving.rememberReplies > 0) {
      this.#remembered.add(received.key, answer);
    }
    for (const target of received.targets) {
      if (this.#home.close(target)) {
        this.#reply(target, answer);
      }
    }
  }

  /**
   * @param {Received} received
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
   * @param {Received} received
   * @param {unknown} thrown of a reply that cannot be sent
   */
  #unsendable(received, thrown) {
    this.#counts.failed++;
    this.#home.failed(thrown, received.invocation);
    const isTooBig = thrown instanceof EventBusError && thrown.code === 'TOO_BIG';
    this.#answer(received, isTooBig ? failure('TOO_BIG', `the reply: ${thrown.message}`, 'YES') : unexpected(thrown));
  }

  /**
   * @param {Received} received that was not begun with
   * @param {FailureCode} code
   * @param {string} message
   */
  #fail(received, code, message) {
    this.#answer(received, failure(code, message, 'NO'));
  }

  /**
   * @param {Received} received
   * @param {Omit<Failure, 'member'>} why
   */
  #answer(received, why) {
    this.#forget(received);
    for (const target of received.targets) {
      if (this.#home.close(target)) {
        this.#say(target, why);
      }
    }
  }

  /** @param {Received} received that is answered */
  #forget(received) {
    // One that was cancelled and has come again is another one.
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
      this.#home.say(channel, encodeReply(call, handledMicros, schema, bytes));
    } else {
      this.#say(target, failure('TOO_BIG', `the reply: ${bytes.length} bytes, made for a bus that takes more`, 'YES'));
    }
  }

  /**
   * @param {Target} target
   * @param {Omit<Failure, 'member'>} why
   */
  #say({ channel, call }, why) {
    this.#home.say(channel, [encodeFailure(call, { ...why, message: shorten(why.message, LIMIT.failureMessageBytes) })]);
  }

  // ---- The end

  #settle() {
    if (this.isIdle) {
      this.onIdle();
    }
  }

  /** What is here is not waited for any longer. */
  abandon() {
    for (const received of this.#waiting) {
      this.#take(received);
      this.#fail(received, 'REFUSED', 'the member has ended');
    }
    this.#known.forEach(received => received.cancel());
  }
}
