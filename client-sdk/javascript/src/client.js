import { Barriers } from './barriers.js';
import { Connector } from './connector.js';
import { Window } from './credit.js';
import { deferred } from './deferred.js';
import { Dispatcher } from './dispatcher.js';
import { Emitter } from './emitter.js';
import { EventBusError } from './errors.js';
import { Fifo } from './fifo.js';
import { INSPECT, shownAs } from './inspect.js';
import { Lifecycle } from './lifecycle.js';
import { checkBufferBytes, checkText, OF_EVENT, refuseUnknown } from './options.js';
import { Outbox } from './outbox.js';
import { Registry } from './registry.js';
import { Subscription } from './subscription.js';
import { TokenRefresh } from './token-refresh.js';
import { checkFilter } from './topics.js';
import { OVERFLOWS } from './wire/names.js';
import * as LIMIT from './wire/limit.js';

/** @import {Settings} from './options.js' */
/** @import {PublishFrame, Waiter} from './frame.js' */
/** @import {CallPort, DurableHome, DurablePort, Environment} from './internal.js' */
/** @import {ClientEvents, ConnectionInfo, Counters, Encoder, Handler, PayloadFor, PublishOptions, Published, SendOptions, State, SubscribeOptions, WaitOptions} from './types.js' */

// Interval of checks for calls that wait, in ms.
const CHECK_INTERVAL = 1000;
const FLUSH_TIMEOUT = 30_000;
const OF_PUBLISH = [...OF_EVENT, 'expected', 'delay', 'ttl', 'producer', 'number', 'signal'];
const OF_WAIT = ['timeout', 'signal'];
const OF_SUBSCRIPTION = ['group', 'overflow', 'bufferBytes', 'codec', 'signal', 'onGap', 'onInterruption'];
/** @type {(keyof ClientEvents)[]} */
const EVENTS = [
  'connected', 'disconnected', 'reconnecting', 'busChanged', 'busChangeFailed', 'gap', 'interruption', 'truncated', 'dropped', 'problem', 'handlerError',
  'requestFailed', 'producerChanged', 'state',
];
const SLOW_CONSUMER = 4001;
// Interval of reports that a subscription stalls others, in ms, and maximum of others named.
const REPORT_INTERVAL = 10_000;
const MAX_NAMED = 5;
// Calls of publish that may wait for room, and more with a large buffer.
const MAX_PARKED = 1000;

/**
 * A `publish` that waits for room.
 *
 * @typedef {object} Parked
 * @property {() => boolean} retry returns whether there was room
 * @property {(error: unknown) => void} reject
 * @property {number} until in ms
 * @property {boolean} isOver whether it no longer waits
 */

/** A client of an event bus: publishes, subscribes, and stays connected. Made by `connect`. */
export class EventBus {
  #settings;
  #env;
  #events;
  #connector;
  /** @type {import('./bus-link.js').Parts} */
  #parts;
  #outbox;
  #registry;
  #barriers;
  #dispatcher;
  #window;
  #calls;
  /** @type {Lifecycle | null} */
  #lifecycle = null;
  /** @type {Counters} */
  #counters = {
    published: 0, confirmed: 0, resent: 0, droppedFull: 0, indeterminate: 0, messagesSent: 0, received: 0, duplicates: 0, missing: 0, interruptions: 0,
    handlerFailures: 0, reconnects: 0, busChanges: 0, unknownFrames: 0, publishedTopics: 0, bufferedBytes: 0, unhandledBytes: 0,
  };
  /** @type {Fifo<Parked>} */
  #parked = new Fifo();
  // Number of those that still wait.
  #parkedCount = 0;
  /** @type {Set<{resolve: () => void, reject: (error: unknown) => void}>} */
  #wantRoom = new Set();
  /** @type {unknown} */
  #timer = null;
  /** @type {Promise<boolean> | null} */
  #closing = null;
  #closed = /** @type {PromiseWithResolvers<EventBusError | null>} */ (deferred());
  #isClosedAwaited = false;
  /** @type {Set<unknown>} timers */
  #lateTasks = new Set();
  #isStarted = false;
  #forgetExit = () => {};
  /** @type {() => void} */
  #checkDrained = () => {};
  // Time since which a subscription with BLOCK stalls the others, and time of the last report, in ms.
  #stalledSince = Infinity;
  #toldStallAt = -Infinity;

  /**
   * Use `connect`.
   * @param {Settings} settings
   * @param {Environment} env
   * @param {CallPort | null} calls
   * @internal
   */
  constructor(settings, env, calls = null) {
    this.#settings = settings;
    this.#env = env;
    this.#calls = calls;
    this.#events = /** @type {Emitter<ClientEvents>} */ (new Emitter(env.report));
    this.#window = new Window(settings.receiveBytes);
    this.#outbox = new Outbox(settings, env, this.#counters, calls);
    this.#registry = new Registry(frame => this.#outbox.control(frame), frame => this.#outbox.sendNow(frame), env.now);
    this.#barriers = new Barriers(this.#outbox, env);
    this.#dispatcher = new Dispatcher(
      this.#registry, this.#counters, this.#window, gap => this.#events.emit('gap', gap), settings.trackedProducers, env);
    this.#dispatcher.onSlow = one => this.#tooSlow(one);
    const problem = (/** @type {EventBusError} */ error) => this.#problem(error);
    this.#parts = {
      env, outbox: this.#outbox, registry: this.#registry, dispatcher: this.#dispatcher, barriers: this.#barriers, window: this.#window, calls,
      durable: null, counters: this.#counters, silenceTimeout: settings.silenceTimeout, tls: settings.tls, problem, refresh: new TokenRefresh(settings, env, problem),
    };
    this.#connector = new Connector(settings, this.#parts, this.#events);
    this.#connector.onEnd = () => this.#ended();
    this.#outbox.onRoom = () => this.#hasRoom();
    calls?.join({ env, events: this.#events, outbox: this.#outbox, registry: this.#registry, problem, onIdle: () => this.#checkDrained() });
    if (env.page) {
      this.#lifecycle = new Lifecycle(env, env.page, this.#connector, () => this.#outbox.flush(), settings.hiddenFor);
    }
  }

  /**
   * Use `connect`.
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<this>}
   * @internal
   */
  async start(signal) {
    const abort = () => this.#connector.close(new EventBusError('CLOSED', 'the signal gave the first connection up', { cause: signal?.reason }));
    this.#lifecycle?.start();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await this.#connector.start();
    } catch (thrown) {
      throw signal?.aborted ? signal.reason : thrown;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    this.#isStarted = true;
    this.#forgetExit = this.#env.onExit(() => this.#exiting());
    this.#checkLater();
    return this;
  }

  /**
   * Returns the text for `console.log` of Node.
   * @param {number} depth
   * @param {object} options
   * @param {(value: unknown, options: object) => string} inspect
   * @returns {string}
   * @internal
   */
  [INSPECT](depth, options, inspect) {
    return shownAs(this, { name: this.#settings.name, state: this.state, url: this.connection?.url ?? null, counters: this.counters() }, options, inspect);
  }

  /** @returns {string | null} a warning about what the end of the process leaves undone */
  #exiting() {
    // Events that the network takes at once are still sent.
    this.#outbox.flush();
    const events = this.#outbox.unsettled + this.#parkedCount;
    return events === 0 ? null
      : `eventbus: the process ends, and ${events === 1 ? '1 event' : `${events} events`} of the client ${this.#settings.name} may be lost (expected: await close() first)`;
  }

  // ---- State

  /** @returns {State} */
  get state() {
    return this.#connector.state;
  }

  /** @returns {ConnectionInfo | null} null while there is none */
  get connection() {
    return this.#connector.connection;
  }

  /**
   * Resolves when the client has ended: with null when it was closed, else with the reason. Without a listener of `disconnected` and where nobody
   * asks for this promise, the reason is reported, in Node by `process.emitWarning`.
   * @returns {Promise<EventBusError | null>}
   */
  get closed() {
    this.#isClosedAwaited = true;
    return this.#closed.promise;
  }

  /**
   * Tries to connect at once, where the client waits for the next try. An existing connection stays, and is probed if it was silent for 5 s.
   * @throws {EventBusError} CLOSED
   */
  reconnect() {
    this.#checkOpen();
    this.#connector.wake();
  }

  /** @returns {Counters} figures since the client was made */
  counters() {
    return {
      ...this.#counters, publishedTopics: this.#outbox.topics, bufferedBytes: this.#outbox.used, unhandledBytes: this.#window.unhandled + this.#window.buffered,
    };
  }

  /**
   * Adds a listener for events of the client.
   * @template {keyof ClientEvents} K
   * @param {K} type
   * @param {(event: ClientEvents[K]) => void} listener
   * @returns {() => void} removes the listener
   */
  on(type, listener) {
    if (!EVENTS.includes(type)) {
      throw new TypeError(`${String(type)}: unknown event (expected: ${EVENTS.toSorted().join(', ')})`);
    }
    return this.#events.on(type, listener);
  }

  /** @param {EventBusError} error */
  #problem(error) {
    if (!this.#events.emit('problem', error)) {
      this.#env.report(error);
    }
  }

  // ---- Publishing

  /**
   * Publishes an event and waits for the bus to confirm it: the bus has put it into the queues of all subscribers. The event is sent again after a
   * lost connection, under the same number, so that subscribers see it once.
   *
   * The events of a topic arrive in the order of the calls, also while these are not awaited.
   * @template {Encoder | undefined} [C=undefined]
   * @param {string} topic
   * @param {PayloadFor<C>} payload text, bytes, or a value for the codec (JSON without one); bytes must not be changed before the promise is settled
   * @param {PublishOptions & {codec?: C}} [options]
   * @returns {Promise<Published>} rejects with ILLEGAL_TOPIC, TOO_BIG, UNREADABLE_PAYLOAD, BUFFER_FULL or CLOSED (not published), with
   *   REFUSED, or with TIMED_OUT or CONNECTION_LOST (may have been delivered, unless the message says that it was not sent). The signal stops the
   *   wait: a call that waits for room is withdrawn, an accepted event is published all the same
   */
  async publish(topic, payload, options = {}) {
    refuseUnknown(options, OF_PUBLISH, '');
    const { signal } = options;
    signal?.throwIfAborted();
    this.#checkOpen();
    return new Promise((resolve, reject) => {
      /** @type {{frame: PublishFrame, index: number} | null} */
      let place = null;
      /** @type {Parked | null} */
      let parked = null;
      const abort = () => {
        if (place?.frame.waiters) {
          place.frame.waiters[place.index] = null;
        } else if (parked && this.#unpark(parked)) {
          // Releases the event while the entry waits for its removal.
          parked.retry = () => true;
        }
        reject(signal?.reason);
      };
      const done = () => signal?.removeEventListener('abort', abort);
      /** @type {Waiter} */
      const waiter = !signal ? { resolve, reject } : {
        resolve: published => { done(); resolve(published); },
        reject: error => { done(); reject(error); },
      };
      const retry = () => {
        place = this.#outbox.add(topic, payload, options, waiter);
        return place !== null;
      };
      if (this.#parkedCount > 0 || !retry()) {
        parked = this.#park(retry, waiter.reject);
      }
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /**
   * @param {() => boolean} retry
   * @param {(error: unknown) => void} reject
   * @returns {Parked | null} null where there is no room to wait
   */
  #park(retry, reject) {
    const { waitWhenFull, blockTimeout, outboundBytes } = this.#settings;
    if (!waitWhenFull || this.#parked.size >= Math.max(MAX_PARKED, outboundBytes / 1024)) {
      this.#counters.droppedFull++;
      reject(this.#full());
      return null;
    }
    const parked = { retry, reject, until: this.#env.now() + blockTimeout, isOver: false };
    this.#parked.push(parked);
    this.#parkedCount++;
    this.#checkLater();
    return parked;
  }

  /**
   * @param {Parked} one that no longer waits
   * @returns {boolean} whether it still waited
   */
  #unpark(one) {
    const waited = !one.isOver;
    one.isOver = true;
    this.#parkedCount -= waited ? 1 : 0;
    return waited;
  }

  #full() {
    return new EventBusError('BUFFER_FULL', `${this.#outbox.used} of ${this.#settings.outboundBytes} bytes wait to be sent or confirmed (expected: room)`);
  }

  /**
   * Publishes an event without waiting: no confirmation, no second try. `flush` tells whether all have arrived.
   * @template {Encoder | undefined} [C=undefined]
   * @param {string} topic
   * @param {PayloadFor<C>} payload as of `publish`; bytes may be changed afterwards
   * @param {SendOptions & {codec?: C}} [options]
   * @returns {boolean} false if the buffer is full and the event was not accepted: wait for `room`
   * @throws {EventBusError} ILLEGAL_TOPIC, TOO_BIG, UNREADABLE_PAYLOAD, CLOSED
   */
  send(topic, payload, options = {}) {
    refuseUnknown(options, OF_EVENT, '');
    this.#checkOpen();
    if (this.#parkedCount === 0 && this.#outbox.add(topic, payload, options, null)) {
      return true;
    }
    this.#counters.droppedFull++;
    return false;
  }

  /**
   * @param {AbortSignal} [signal] stops waiting
   * @returns {Promise<void>} resolves when half of the outbound buffer is free; rejects with CLOSED
   */
  async room(signal) {
    signal?.throwIfAborted();
    this.#checkOpen();
    if (this.#hasHalf) {
      return;
    }
    await this.#waiting(signal, undefined, (resolve, reject) => {
      const one = { resolve, reject };
      this.#wantRoom.add(one);
      return () => this.#wantRoom.delete(one);
    });
  }

  get #hasHalf() {
    return this.#outbox.used <= this.#settings.outboundBytes / 2;
  }

  #hasRoom() {
    for (let next = this.#parked.first; next; next = this.#parked.first) {
      try {
        if (!next.isOver && !next.retry()) {
          break;
        }
      } catch (thrown) {
        next.reject(thrown);
      }
      this.#parked.shift();
      this.#unpark(next);
    }
    if (this.#wantRoom.size > 0 && this.#hasHalf) {
      this.#wantRoom.forEach(one => one.resolve());
      this.#wantRoom.clear();
    }
    this.#checkDrained();
  }

  /**
   * Waits until everything published before has reached every bus concerned.
   * @param {WaitOptions} [options] timeout: default 30,000 ms
   * @returns {Promise<void>} rejects with TIMED_OUT, REFUSED, CLOSED, or the signal's reason
   */
  async flush(options = {}) {
    refuseUnknown(options, OF_WAIT, '');
    const { timeout = FLUSH_TIMEOUT, signal } = options;
    signal?.throwIfAborted();
    this.#checkOpen();
    await this.#flushed(timeout, signal);
  }

  /**
   * @param {number} timeout
   * @param {AbortSignal} [signal]
   */
  #flushed(timeout, signal) {
    return this.#waiting(signal, { timeout, what: 'flush' }, (resolve, reject) => this.#barriers.ask(resolve, reject));
  }

  /**
   * @param {AbortSignal | undefined} signal
   * @param {{timeout: number, what: string} | undefined} deadline
   * @param {(resolve: () => void, reject: (error: unknown) => void) => () => void} begin returns the withdrawal
   * @returns {Promise<void>}
   */
  #waiting(signal, deadline, begin) {
    return new Promise((resolve, reject) => {
      /** @type {unknown} */
      let timer = null;
      const settle = (/** @type {() => void} */ outcome) => () => {
        this.#env.clearTimeout(/** @type {never} */ (timer));
        signal?.removeEventListener('abort', abort);
        outcome();
      };
      const forget = begin(settle(resolve), error => settle(() => reject(error))());
      const give = (/** @type {unknown} */ reason) => {
        forget();
        settle(() => reject(reason))();
      };
      const abort = () => give(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      if (deadline) {
        const { timeout, what } = deadline;
        timer = this.#env.setTimeout(() => give(new EventBusError('TIMED_OUT', `${what}: no answer within ${timeout} ms`)), timeout);
      }
    });
  }

  #checkOpen() {
    const { state, endReason } = this.#connector;
    if (this.#closing || state === 'CLOSED') {
      throw closed(endReason);
    }
  }

  // ---- Subscribing

  /**
   * Subscribes to a filter. `ready` of the subscription resolves when it is in force: every event that a bus takes from a publisher after that is
   * delivered. The subscription is renewed after every lost connection; events published meanwhile are reported as a gap.
   * @param {string} filter tokens with dots; `*` is one token, a last `>` one or more
   * @template [T=unknown] what the codec reads
   * @param {SubscribeOptions<T> | Handler<T>} [given] options, or the handler
   * @param {Handler<T>} [taker] the handler gets the events one by one; without one they are read with `for await`
   * @returns {Subscription<T>}
   * @throws {EventBusError} ILLEGAL_TOPIC, CLOSED
   */
  subscribe(filter, given = {}, taker) {
    const [options, handler] = typeof given === 'function' && taker === undefined ? [{}, given] : [/** @type {SubscribeOptions<T>} */ (given), taker];
    refuseUnknown(options, OF_SUBSCRIPTION, '');
    this.#checkOpen();
    checkFilter(filter);
    const { group, overflow = this.#env.inBrowser ? 'DROP_OLDEST' : 'BLOCK', codec, signal, onGap, onInterruption } = options;
    const bufferBytes = checkBufferBytes(options, this.#settings.receiveBytes);
    if (group !== undefined && checkText('group', group, LIMIT.nameBytes).trim() === '') {
      throw new TypeError('group: blank (expected: a name)');
    }
    if (!OVERFLOWS.includes(overflow)) {
      throw new TypeError(`overflow: unknown (expected: ${OVERFLOWS.join(', ')})`);
    }
    for (const [name, value] of Object.entries({ handler, onGap, onInterruption })) {
      if (value !== undefined && typeof value !== 'function') {
        throw new TypeError(`${name}: ${typeof value} (expected: a function)`);
      }
    }
    signal?.throwIfAborted();
    const subscription = new Subscription(
      this.#registry.nextId(), filter, { group: group ?? null, overflow, bufferBytes, codec: codec ?? null, signal, onGap, onInterruption },
      /** @type {Handler | undefined} */ (handler), {
        micros: this.#env.micros,
        later: task => this.#later(task),
        window: this.#window,
        dropped: gap => {
          this.#counters.missing += gap.to - gap.from + 1;
          this.#events.emit('gap', gap);
        },
        unsubscribe: one => this.#registry.unsubscribe(one),
        problem: error => this.#problem(error),
        failed: (error, event) => {
          this.#counters.handlerFailures++;
          if (!this.#events.emit('handlerError', { error, event })) {
            this.#env.report(error);
          }
        },
        interrupted: (one, interruption) => {
          this.#counters.interruptions++;
          this.#dispatcher.touch(one);
          this.#events.emit('interruption', { subscription: one, filter: one.filter, ...interruption });
        },
      });
    this.#registry.add(subscription);
    return /** @type {Subscription<T>} */ (/** @type {unknown} */ (subscription));
  }

  /**
   * Adds the part that consumes durable topics, once; see `durable`.
   * @template {DurablePort} T
   * @param {(home: DurableHome) => T} make
   * @returns {T}
   * @internal
   */
  durables(make) {
    return /** @type {T} */ (this.#parts.durable ??= make({
      env: this.#env, registry: this.#registry, events: this.#events, counters: this.#counters,
      problem: error => this.#problem(error),
      later: task => this.#later(task),
      checkOpen: () => this.#checkOpen(),
    }));
  }

  /**
   * @param {() => void} task runs after `closeTimeout`, unless the client has ended
   * @returns {() => void} cancels it
   */
  #later(task) {
    const { closeTimeout } = this.#settings;
    if (this.state === 'CLOSED') {
      return () => {};
    }
    const timer = this.#env.setTimeout(() => {
      this.#lateTasks.delete(timer);
      task();
    }, closeTimeout);
    this.#lateTasks.add(timer);
    return () => {
      this.#lateTasks.delete(timer);
      this.#env.clearTimeout(/** @type {never} */ (timer));
    };
  }

  /** @param {Subscription} one with DISCONNECT */
  #tooSlow(one) {
    const why = `${one} has ${one.buffered} bytes that are not handled (expected: at most ${one.bufferBytes})`;
    this.#problem(new EventBusError('SLOW_CONSUMER', why));
    this.#connector.giveUp(why, SLOW_CONSUMER);
  }

  /** Reports a subscription that has stalled the others for a while. */
  #checkStall() {
    const now = this.#env.now();
    const all = /** @type {Subscription[]} */ ([...this.#registry.all].filter(one => one instanceof Subscription));
    const slow = all.filter(one => one.isBlocking && one.isFull).reduce(
      (max, one) => max && max.buffered >= one.buffered ? max : one, /** @type {Subscription | null} */ (null));
    if (!slow || !this.#window.isStalled) {
      this.#stalledSince = Infinity;
      return;
    }
    this.#stalledSince = Math.min(this.#stalledSince, now);
    const others = all.filter(one => one !== slow).map(({ filter }) => filter);
    if (now - this.#stalledSince < CHECK_INTERVAL || now - this.#toldStallAt < REPORT_INTERVAL || (others.length === 0 && slow.isTaken)) {
      return;
    }
    this.#toldStallAt = now;
    const named = `${others.slice(0, MAX_NAMED).join(', ')}${others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : ''}`;
    this.#problem(new EventBusError('SLOW_CONSUMER', `${slow} with BLOCK has ${slow.buffered} bytes that ${slow.isTaken ? 'are not handled' : 'nobody reads'} `
      + `(bufferBytes: ${slow.bufferBytes}), and holds back ${others.length > 0 ? `the others of this client: ${named}` : 'those who publish'} `
      + '(expected: it keeps up, or another overflow, or a client of its own)'));
  }

  // ---- Waiting calls

  #checkLater() {
    if (this.#timer === null && this.state !== 'CLOSED') {
      this.#timer = this.#env.setTimeout(() => this.#check(), CHECK_INTERVAL);
    }
  }

  #check() {
    this.#timer = null;
    const now = this.#env.now();
    for (let next = this.#parked.first; next && (next.isOver || next.until <= now); next = this.#parked.first) {
      this.#parked.shift();
      if (this.#unpark(next)) {
        this.#counters.droppedFull++;
        next.reject(this.#full());
      }
    }
    if (!this.#window.isStalled && !this.#connector.isMoving) {
      const overdue = this.#registry.overdue();
      if (overdue !== null) {
        this.#problem(new EventBusError('TIMED_OUT', overdue));
        this.#connector.giveUp(overdue);
      }
    }
    this.#checkStall();
    this.#checkDrained();
    this.#checkLater();
  }

  // ---- The end

  /**
   * Ends the client: accepts nothing new, sends the buffered events, waits for confirmations and for the handlers, and closes the connection. Gives
   * up at the timeout.
   * @param {{timeout?: number}} [options] ms, default `closeTimeout`
   * @returns {Promise<boolean>} whether all was sent, confirmed and handled
   */
  async close(options = {}) {
    refuseUnknown(options, ['timeout'], '');
    this.#closing ??= this.#close(options.timeout ?? this.#settings.closeTimeout);
    return this.#closing;
  }

  /**
   * The same as `close`, for `await using`.
   * @returns {Promise<void>}
   */
  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /** @param {number} timeout */
  async #close(timeout) {
    if (this.state === 'CLOSED') {
      return false;
    }
    const until = this.#env.now() + timeout;
    const subscriptions = [...this.#registry.all];
    const isDrained = () => this.#outbox.isEmpty && this.#parkedCount === 0 && subscriptions.every(s => s.isFinished) && (this.#calls?.isIdle ?? true);
    let drained = false;
    if (this.connection !== null || timeout > 0) {
      this.#connector.drain();
      this.#registry.close();
      this.#calls?.drain();
      drained = await this.#drained(isDrained, timeout);
      if (drained && this.#outbox.isUnsure) {
        drained = await this.#flushed(Math.max(1, until - this.#env.now())).then(() => true, () => false);
      }
    }
    this.#connector.close(new EventBusError('CLOSED', 'the client is closed'));
    return drained;
  }

  /**
   * @param {() => boolean} isDrained
   * @param {number} timeout
   * @returns {Promise<boolean>}
   */
  #drained(isDrained, timeout) {
    return new Promise(resolve => {
      const end = (/** @type {boolean} */ result) => {
        this.#checkDrained = () => {};
        this.#env.clearTimeout(/** @type {never} */ (timer));
        resolve(result);
      };
      const check = () => {
        if (this.state === 'CLOSED') {
          end(false);
        } else if (isDrained()) {
          end(true);
        }
      };
      const timer = this.#env.setTimeout(() => end(isDrained()), timeout);
      this.#checkDrained = check;
      [...this.#registry.all].forEach(s => s.unsubscribe().then(check, check));
      check();
    });
  }

  #ended() {
    const why = this.#connector.endReason ?? new EventBusError('CLOSED', 'the client is closed');
    const error = closed(why);
    const wanted = why.code === 'CLOSED';
    this.#lifecycle?.stop();
    this.#forgetExit();
    this.#dispatcher.close();
    this.#lateTasks.forEach(timer => this.#env.clearTimeout(/** @type {never} */ (timer)));
    this.#lateTasks.clear();
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
    this.#parked.forEach(one => this.#unpark(one) && one.reject(error));
    this.#parked.clear();
    const plain = this.#outbox.abandon(
      new EventBusError('CONNECTION_LOST', `the client was closed before the bus confirmed: ${why.message}`),
      new EventBusError('CLOSED', `the client was closed before the event was sent: ${why.message}`, { cause: why }));
    if (plain > 0) {
      this.#events.emit('dropped', { events: plain, cause: 'CLOSED' });
    }
    this.#barriers.close(error);
    this.#wantRoom.forEach(one => one.reject(error));
    this.#wantRoom.clear();
    this.#registry.abandon(error, wanted);
    this.#checkDrained();
    this.#closed.resolve(wanted ? null : why);
    if (this.#isStarted && !wanted && !this.#isClosedAwaited && !this.#events.has('disconnected')) {
      this.#env.report(new EventBusError(why.code, `the client ${this.#settings.name} has ended: ${why.message}`, { cause: why, retryable: false }));
    }
  }
}

/** @param {EventBusError | null} why the client has ended */
function closed(why) {
  return why === null || why.code === 'CLOSED' ? new EventBusError('CLOSED', 'the client is closed')
    : new EventBusError('CLOSED', `the client is closed: ${why.message}`, { cause: why });
}
