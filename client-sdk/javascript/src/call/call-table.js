import { encodeEvent, estimate } from '../encoder.js';
import { EventBusError } from '../errors.js';
import { decodeCancel, decodeFailure, decodeInvoke, decodeReply, encodeFailure } from '../wire/call-frames.js';
import * as LIMIT from '../wire/limit.js';
import * as TYPE from '../wire/type.js';
import { Writer } from '../wire/writer.js';
import { CallError, failure } from './errors.js';
import { CallConnections } from './call-connections.js';
import { checkRequest, checkServe } from './options.js';
import { PendingCalls } from './pending-calls.js';
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
 * The client that the calls belong to.
 *
 * @typedef {object} Home
 * @property {Environment} env
 * @property {Emitter<ClientEvents>} events
 * @property {Outbox} outbox
 * @property {Registry} registry
 * @property {(error: EventBusError) => void} problem
 * @property {() => void} onIdle is called when the last request has its outcome
 */

// Interval of checks whether calls have ended on a connection that the client has left, in ms.
const CHECK_INTERVAL = 10;
// Bytes not taken by the network above which no handler starts: its answer would only wait.
const HIGH_WATER = 2 ** 20;
const DEFAULT_MESSAGE_BYTES = 2 ** 22;

/** The calls of one client, in both directions: the requests that it makes, and those to its services. */
export class CallTable {
  #callBytes;
  #home = /** @type {Home} */ (/** @type {unknown} */ (null));
  #pending = /** @type {PendingCalls} */ (/** @type {unknown} */ (null));
  #connections = new CallConnections();
  /** @type {Map<number, {service: Service, runner: ServiceRunner}>} */
  #services = new Map();
  /** @type {Map<Channel, () => void>} that the client is about to end */
  #leaving = new Map();
  /** @type {unknown} */
  #timer = null;

  /** @param {number} callBytes of requests that are not sent, or may be sent again */
  constructor(callBytes) {
    this.#callBytes = callBytes;
  }

  /** @param {Home} home */
  join(home) {
    this.#home = home;
    this.#pending = new PendingCalls({
      env: home.env, wake: () => home.outbox.wake(), send: (channel, frame) => this.#connections.send(channel, frame), onIdle: home.onIdle,
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
      const settings = checkRequest(service, options);
      return await this.#pending.request(settings, this.#encode(payload, options, this.#callBytes), signal);
    } catch (thrown) {
      if (thrown instanceof EventBusError && !(thrown instanceof CallError)) {
        // Every failure of a request says whether it was executed.
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
    const settings = checkServe(name, options);
    if (typeof handler !== 'function') {
      throw new TypeError(`handler: ${typeof handler} (expected: a function)`);
    }
    const { signal } = options;
    signal?.throwIfAborted();
    const runner = new ServiceRunner(name, settings, handler, {
      now: env.now,
      hasRoom: channel => this.#hasRoom(channel),
      encode: (payload, more) => this.#encode(payload, more, Infinity),
      opened: ({ channel, call }, received, by) => void this.#connections.get(channel)?.open.set(call, { received, runner: by }),
      close: ({ channel, call }) => this.#connections.get(channel)?.open.delete(call) ?? false,
      isOpen: ({ channel, call }) => this.#connections.get(channel)?.open.has(call) ?? false,
      takes: (channel, eventBytes) => eventBytes + LIMIT.aroundCall <= (this.#connections.get(channel)?.welcome.limits.messageBytes ?? Infinity),
      send: (channel, frame) => this.#connections.send(channel, frame),
      failed: (error, invocation) => {
        if (!events.emit('requestFailed', { error, invocation })) {
          env.report(error);
        }
      },
    });
    const service = new Service(registry.nextId(), name, settings, runner, {
      env, problem,
      unserve: one => registry.unsubscribe(one),
      update: (one, frame) => registry.update(one, frame),
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
    this.#connections.opened(channel, welcome);
  }

  /** @param {Channel} channel that is lost */
  lost(channel) {
    if (this.#connections.delete(channel)) {
      this.#leaving.delete(channel);
      this.#pending.lost(channel);
    }
  }

  /**
   * @param {Channel} channel
   * @param {number} until deadline for its calls, on the clock of `env.now`
   * @param {() => void} then
   */
  leave(channel, until, then) {
    const { env } = this.#home;
    this.#leaving.set(channel, then);
    const check = () => {
      if (this.#leaving.get(channel) !== then) {
        return;
      }
      if (env.now() >= until || (this.#pending.isQuiet(channel) && this.#connections.get(channel)?.open.size === 0)) {
        this.#connections.flush(channel);
        this.#leaving.delete(channel);
        then();
      } else {
        // Polling: a notification at the end of each call would cost something for every call there ever is.
        env.setTimeout(check, CHECK_INTERVAL);
      }
    };
    check();
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
    const connection = this.#connections.get(channel);
    return connection ? this.#pending.take(channel, connection.welcome, max) : [];
  }

  /** @param {Channel} channel */
  #hasRoom(channel) {
    if (channel.bufferedAmount < HIGH_WATER || !this.#connections.get(channel)) {
      return true;
    }
    this.#timer ??= this.#home.env.setTimeout(() => {
      this.#timer = null;
      this.#services.forEach(({ runner }) => runner.pump());
    }, CHECK_INTERVAL);
    return false;
  }

  // ---- Input

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
        const open = this.#connections.get(channel)?.open.get(decodeCancel(body).call);
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
    this.#connections.send(channel, [encodeFailure(invoke.call, why)]);
  }

  // ---- The end

  /** Takes no more requests. */
  drain() {
    this.#pending.drain(new EventBusError('CLOSED', 'the client is closed'));
  }

  /** @param {EventBusError} why the client has ended */
  end(why) {
    this.#pending.end(why);
    this.#services.forEach(({ service }) => service.abandon());
    this.#leaving.forEach(then => then());
    this.#leaving.clear();
    this.#home.env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }
}
