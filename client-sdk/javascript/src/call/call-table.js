import { encodeEvent, estimate } from '../encoder.js';
import { EventBusError } from '../errors.js';
import { decodeCancel, decodeFailure, decodeInvoke, decodeReply, encodeFailure } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import * as TYPE from '../wire/type.js';
import { Writer } from '../wire/writer.js';
import { CallError, failure } from './errors.js';
import { Lines } from './lines.js';
import { checkRequest, checkServe } from './options.js';
import { PendingCalls } from './pending.js';
import { Service } from './service.js';
import { ServiceRunner } from './service-runner.js';

/** @import {Emitter} from '../emitter.js' */
/** @import {Response} from './event.js' */
/** @import {Outbox} from '../outbox.js' */
/** @import {Registry} from '../registry.js' */
/** @import {Channel, Environment} from '../internal.js' */
/** @import {ClientEvents, RequestHandler, RequestOptions, SendOptions, ServeOptions} from '../types.js' */
/** @import {Invoke} from '../wire/call-frames.js' */
/** @import {Welcome} from '../wire/frames.js' */
/** @import {Reader} from '../wire/reader.js' */

/**
 * The client that calls are a part of.
 *
 * @typedef {object} Home
 * @property {Environment} env
 * @property {Emitter<ClientEvents>} events
 * @property {Outbox} outbox
 * @property {Registry} registry
 * @property {(error: EventBusError) => void} problem
 * @property {() => void} onIdle the last request has its outcome
 */

// How often it is looked whether calls have ended on a connection that the client has left, in ms.
const LOOK = 10;
// Above this the network is behind: no handler is begun with a request whose answer would only wait.
const HIGH_WATER = 2 ** 20;
const DEFAULT_MESSAGE_BYTES = 2 ** 22;

/** The calls of one client, at both ends: the requests that it makes, and those to its services. */
export class CallTable {
  #callBytes;
  #home = /** @type {Home} */ (/** @type {unknown} */ (null));
  #pending = /** @type {PendingCalls} */ (/** @type {unknown} */ (null));
  #lines = new Lines();
  /** @type {Map<number, {service: Service, runner: ServiceRunner}>} */
  #services = new Map();
  /** @type {Map<Channel, () => void>} that the client is about to end */
  #leaving = new Map();
  /** @type {unknown} */
  #looking = null;

  /** @param {number} callBytes of requests that are not sent, or may be sent again */
  constructor(callBytes) {
    this.#callBytes = callBytes;
  }

  /** @param {Home} home */
  join(home) {
    this.#home = home;
    this.#pending = new PendingCalls({
      env: home.env, wake: () => home.outbox.wake(), say: (channel, frame) => this.#lines.say(channel, frame), onIdle: home.onIdle,
    }, this.#callBytes);
  }

  // ---- For the application

  /**
   * @param {string} service
   * @param {unknown} payload
   * @param {RequestOptions} options
   * @returns {Promise<Response>}
   */
  async request(service, payload, options) {
    const { signal } = options ?? {};
    signal?.throwIfAborted();
    try {
      const how = checkRequest(service, options);
      return await this.#pending.request(how, this.#encode(payload, options, this.#callBytes), signal);
    } catch (thrown) {
      if (thrown instanceof EventBusError && !(thrown instanceof CallError)) {
        // Every failure says whether the request was executed.
        throw new CallError(thrown.code, thrown.message, 'NO', { cause: thrown });
      }
      throw thrown;
    }
  }

  /**
   * @param {unknown} payload
   * @param {SendOptions} options
   * @param {number} max bytes
   */
  #encode(payload, options, max) {
    const { env, outbox: { limits } } = this.#home;
    const room = (limits?.messageBytes ?? DEFAULT_MESSAGE_BYTES) - LIMIT.aroundCall;
    const { event, max: size } = estimate(payload, options, limits, Math.min(max, room));
    const writer = new Writer(size);
    encodeEvent(writer, event, env.micros);
    return { bytes: writer.done(), schema: event.schema };
  }

  /**
   * @param {string} name
   * @param {RequestHandler} handler
   * @param {ServeOptions} options
   * @returns {Service}
   */
  serve(name, handler, options) {
    const { env, events, problem, registry } = this.#home;
    const serving = checkServe(name, options);
    if (typeof handler !== 'function') {
      throw new TypeError(`handler: ${typeof handler} (expected: a function)`);
    }
    const { signal } = options;
    signal?.throwIfAborted();
    const runner = new ServiceRunner(name, serving, handler, {
      now: env.now,
      hasRoom: channel => this.#hasRoom(channel),
      encode: (payload, more) => this.#encode(payload, more, Infinity),
      opened: ({ channel, call }, received, by) => void this.#lines.get(channel)?.open.set(call, { received, runner: by }),
      close: ({ channel, call }) => this.#lines.get(channel)?.open.delete(call) ?? false,
      isOpen: ({ channel, call }) => this.#lines.get(channel)?.open.has(call) ?? false,
      takes: (channel, eventBytes) => eventBytes + LIMIT.aroundCall <= (this.#lines.get(channel)?.welcome.limits.messageBytes ?? Infinity),
      say: (channel, frame) => this.#lines.say(channel, frame),
      failed: (error, invocation) => {
        if (!events.emit('requestFailed', { error, invocation })) {
          env.report(error);
        }
      },
    });
    const service = new Service(registry.nextId(), name, serving, runner, {
      env, problem,
      unserve: one => registry.unsubscribe(one),
      tell: (one, frame) => registry.tell(one, frame),
      finished: one => void this.#services.delete(one.id),
    });
    registry.add(service);
    this.#services.set(service.id, { service, runner });
    service.endWith(signal);
    return service;
  }

  // ---- Connections

  /**
   * @param {Channel} channel
   * @param {Welcome} welcome
   */
  opened(channel, welcome) {
    this.#lines.opened(channel, welcome);
  }

  /** @param {Channel} channel over which nothing counts any more */
  lost(channel) {
    if (this.#lines.delete(channel)) {
      this.#leaving.delete(channel);
      this.#pending.lost(channel);
    }
  }

  /**
   * @param {Channel} channel
   * @param {number} until when its calls are not waited for any longer, on the clock of `env.now`
   * @param {() => void} then
   */
  leave(channel, until, then) {
    const { env } = this.#home;
    this.#leaving.set(channel, then);
    const look = () => {
      if (this.#leaving.get(channel) !== then) {
        return;
      }
      if (env.now() >= until || (this.#pending.isQuiet(channel) && this.#lines.get(channel)?.open.size === 0)) {
        this.#lines.flush(channel);
        this.#leaving.delete(channel);
        then();
      } else {
        // The end of each call could be told, at a price for every call there ever is.
        env.setTimeout(look, LOOK);
      }
    };
    look();
  }

  /** @returns {boolean} */
  get isWaiting() {
    return this.#pending.isWaiting;
  }

  /** @returns {boolean} */
  get isIdle() {
    return this.#pending.isIdle;
  }

  /** @returns {number} */
  get someService() {
    return [...this.#services.values()].find(({ service }) => !service.isEnded)?.service.id ?? 0;
  }

  /**
   * @param {Channel} channel
   * @param {number} max
   * @returns {Uint8Array[]}
   */
  take(channel, max) {
    const line = this.#lines.get(channel);
    return line ? this.#pending.take(channel, line.welcome, max) : [];
  }

  /** @param {Channel} channel */
  #hasRoom(channel) {
    if (channel.bufferedAmount < HIGH_WATER || !this.#lines.get(channel)) {
      return true;
    }
    this.#looking ??= this.#home.env.setTimeout(() => {
      this.#looking = null;
      this.#services.forEach(({ runner }) => runner.pump());
    }, LOOK);
    return false;
  }

  // ---- What comes

  /**
   * @param {number} type
   * @param {Reader} body
   * @param {Channel} channel
   * @returns {boolean}
   */
  frame(type, body, channel) {
    switch (type) {
      case TYPE.INVOKE:
        this.#invoked(decodeInvoke(body), channel);
        return true;
      case TYPE.REPLY:
        this.#pending.replied(decodeReply(body), channel);
        return true;
      case TYPE.FAILURE:
        this.#pending.failed(decodeFailure(body), channel);
        return true;
      case TYPE.CANCEL: {
        const open = this.#lines.get(channel)?.open.get(decodeCancel(body).call);
        open?.runner.cancelled(open.received);
        return true;
      }
      default:
        return false;
    }
  }

  /**
   * @param {Invoke} invoke
   * @param {Channel} channel
   */
  #invoked(invoke, channel) {
    const runner = this.#services.get(invoke.service)?.runner;
    if (runner && invoke.kind === 0) {
      runner.arrive(invoke, channel);
      return;
    }
    const why = runner ? failure('UNSUPPORTED', 'the member serves no calls of this kind', 'NO') : failure('REFUSED', 'the member has ended', 'NO');
    this.#lines.say(channel, [encodeFailure(invoke.call, why)]);
  }

  // ---- The end

  /** No more requests are taken. */
  drain() {
    this.#pending.drain(new EventBusError('CLOSED', 'the client is closed'));
  }

  /** @param {EventBusError} why the client has ended */
  end(why) {
    this.#pending.end(why);
    this.#services.forEach(({ service }) => service.abandon());
    this.#leaving.forEach(then => then());
    this.#leaving.clear();
    this.#home.env.clearTimeout(/** @type {never} */ (this.#looking));
    this.#looking = null;
  }
}
