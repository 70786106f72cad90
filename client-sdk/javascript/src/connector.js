import { BusUrls } from './bus-urls.js';
import { BusMove } from './bus-move.js';
import { EventBusError, textOf } from './errors.js';
import { hello } from './hello.js';
import { BusLink } from './bus-link.js';
import { failureOf, isTemporary, isVerdict, ReconnectBackoff } from './reconnect-backoff.js';
import { encodeChangeBusFailed } from './wire/frames.js';

/** @import {Emitter} from './emitter.js' */
/** @import {Known} from './hello.js' */
/** @import {End, Parts} from './bus-link.js' */
/** @import {Settings} from './options.js' */
/** @import {ClientEvents, ConnectionInfo, State} from './types.js' */
/** @import {ChangeBus, Welcome} from './wire/frames.js' */

/** @type {Record<State, State[]>} */
const TRANSITIONS = {
  NEW: ['CONNECTING', 'CLOSED'],
  CONNECTING: ['CONNECTED', 'CLOSED'],
  CONNECTED: ['RECONNECTING', 'DRAINING', 'CLOSED'],
  RECONNECTING: ['CONNECTED', 'DRAINING', 'CLOSED'],
  DRAINING: ['CLOSED'],
  CLOSED: [],
};

const FIRST_TRIES = 3;
// Number of tries without a Welcome after which the application is text.
const SILENT_TRIES = 5;
// Timeout of a try where more follow, in ms.
const TRY_TIMEOUT = 10_000;
// Minimum time for a try of the first connection, in ms.
const MIN_TRY = 100;
const OFFLINE_DELAY = 30_000;
const MAX_MOVES = 8;
const MINUTE = 60_000;

/** State machine of the connection: connects, reconnects, moves to another bus, gives up. */
export class Connector {
  #settings;
  #parts;
  #env;
  #events;
  #urls;
  #backoff;
  /** @type {State} */
  #state = 'NEW';
  /** @type {BusLink | null} */
  #link = null;
  /** @type {unknown} until the next try, or for the answer to this one */
  #timer = null;
  // Counts the tries, so that a late answer is recognised.
  #attempt = 0;
  #firstTries = 0;
  #firstDeadline = 0;
  #welcomedAt = 0;
  /** @type {Known} */
  #known = { resume: null, session: null };
  /** @type {bigint | null} */
  #producer = null;
  #askedTokenAgain = false;
  #wasWelcomed = false;
  /** @type {BusMove | null} */
  #move = null;
  #moveToken = '';
  /** @type {number[]} when moves began */
  #moves = [];
  /** @type {string | null} the address that is tried next */
  #nextUrl = null;
  #isOffline = false;
  #isAsleep = false;
  #first = /** @type {{resolve: () => void, reject: (error: unknown) => void} | null} */ (null);
  /** @type {ConnectionInfo | null} */
  connection = null;
  /** @type {EventBusError | null} why the client has ended */
  endReason = null;
  /** Called when the client has ended. */
  onEnd = () => {};

  /**
   * @param {Settings} settings
   * @param {Parts} parts
   * @param {Emitter<ClientEvents>} events
   */
  constructor(settings, parts, events) {
    this.#settings = settings;
    this.#parts = parts;
    this.#env = parts.env;
    this.#events = events;
    this.#urls = new BusUrls(settings.urls);
    this.#backoff = new ReconnectBackoff(settings.reconnect, () => parts.env.random());
    parts.refresh.onRenewed = expiresAt => {
      this.connection = Object.freeze({ .../** @type {ConnectionInfo} */ (this.connection), expiresAt });
    };
  }

  /** @returns {State} */
  get state() {
    return this.#state;
  }

  /** @returns {boolean} whether a move to another bus is under way */
  get isMoving() {
    return this.#move !== null;
  }

  /** @param {State} next */
  #become(next) {
    const before = this.#state;
    if (!TRANSITIONS[before].includes(next)) {
      throw new Error(`state: ${before} -> ${next} (not in the table)`);
    }
    this.#state = next;
    this.#events.emit('state', { state: next, before });
  }

  // ---- Connecting

  /** @returns {Promise<void>} resolves with the first connection */
  start() {
    this.#become('CONNECTING');
    this.#firstDeadline = this.#env.now() + this.#settings.connectTimeout;
    return new Promise((resolve, reject) => {
      this.#first = { resolve, reject };
      this.#tryNext(this.#urls.next());
    });
  }

  /** @param {string} url */
  #tryNext(url) {
    let timeout = this.#settings.connectTimeout;
    if (this.#state === 'CONNECTING') {
      const left = this.#firstDeadline - this.#env.now();
      // The rest of the time, divided by this address and those that follow.
      timeout = Math.max(1, left / (this.#urls.configuredLeft + 1));
      if (this.#settings.reconnect?.retryFirst) {
        timeout = Math.min(timeout, TRY_TIMEOUT);
      }
    }
    const attempt = ++this.#attempt;
    const link = new BusLink(url, this.#parts, this, null);
    this.#link = link;
    this.#nextUrl = null;
    this.#timer = this.#env.setTimeout(() => {
      const text = `${url} did not answer within ${Math.round(timeout)} ms`;
      link.fail(text, new EventBusError('TIMED_OUT', text));
    }, timeout);
    hello(this.#settings, this.#env.agent, this.#known, null).then(
      frame => attempt === this.#attempt && this.#link === link && link.open(frame),
      cause => this.#tokenFailed(link, new EventBusError('NO_TOKEN', `no token: ${textOf(cause)}`, { cause })));
  }

  /**
   * @param {BusLink} link
   * @param {EventBusError} failure
   */
  #tokenFailed(link, failure) {
    if (this.#wasWelcomed && link === this.#link) {
      // Not for the first connection, which fails with it.
      this.#parts.problem(failure);
    }
    link.fail('', failure);
  }

  #stopTimer() {
    this.#env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }

  /**
   * @param {BusLink} link
   * @param {Welcome} welcome
   */
  welcomed(link, welcome) {
    if (link !== this.#link) {
      link.abort();
      return;
    }
    const before = this.#producer;
    const info = this.#connected(link, welcome);
    const { outbox, registry, barriers, counters } = this.#parts;
    const refused = outbox.connected(link.channel, welcome);
    if (this.#wasWelcomed) {
      counters.reconnects++;
    }
    this.#wasWelcomed = true;
    if (this.#state !== 'DRAINING') {
      this.#become('CONNECTED');
    }
    if (refused > 0) {
      this.#events.emit('dropped', { events: refused, cause: 'TOO_BIG' });
    }
    if (before !== null && before !== info.producer) {
      this.#events.emit('producerChanged', { before, now: info.producer });
    }
    registry.connected();
    barriers.connected();
    this.#events.emit('connected', info);
    this.#first?.resolve();
    this.#first = null;
  }

  /**
   * @param {BusLink} link
   * @param {Welcome} welcome
   */
  #connected(link, welcome) {
    this.#stopTimer();
    this.#welcomedAt = this.#env.now();
    this.#askedTokenAgain = false;
    this.#backoff.unwelcome = 0;
    this.#known = { resume: welcome.resume, session: welcome.session };
    this.#producer = welcome.producer;
    this.#urls.welcomed(link.url, welcome.others);
    this.#parts.dispatcher.onRoom = () => link.grant();
    this.#link = link;
    const { bus, session, producer, limits, expiresAt } = welcome;
    this.#parts.refresh.begin(link, expiresAt);
    return this.connection = Object.freeze({ url: link.url, bus, session, producer, limits, expiresAt });
  }

  /**
   * @param {BusLink} link
   * @param {End} end
   */
  ended(link, end) {
    if (link !== this.#link || this.#state === 'CLOSED') {
      return;
    }
    if (this.#move?.oldEnded()) {
      return;
    }
    this.#move = null;
    this.#stopTimer();
    this.#link = null;
    const wasConnected = this.connection !== null;
    if (wasConnected) {
      this.#lost(link);
      if (this.#backoff.ended(this.#env.now() - this.#welcomedAt)) {
        this.#urls.startAnew();
      }
    }
    if (this.#state === 'CONNECTING') {
      this.#firstFailed(link.url, end);
      return;
    }
    const again = this.#backoff.mayRetry(end) || this.#mayAskTokenAgain(end);
    if (wasConnected || !again) {
      this.#events.emit('disconnected', { code: end.code, reason: end.reason || (end.failure?.message ?? ''), willReconnect: again });
    }
    if (again) {
      this.#retry(link.url, end);
    } else {
      this.#finish(failureOf(end, link.url));
    }
  }

  /**
   * Releases all that belongs to a lost connection.
   * @param {BusLink} link
   */
  #lost(link) {
    this.connection = null;
    this.#parts.refresh.end();
    this.#parts.dispatcher.onRoom = () => {};
    this.loseSending();
    this.#parts.registry.disconnected(link.heardAtMicros);
  }

  /** Records that the connection for sending is lost. */
  loseSending() {
    const unknown = this.#parts.outbox.disconnected();
    if (unknown > 0) {
      this.#events.emit('dropped', { events: unknown, cause: 'CONNECTION_LOST' });
    }
  }

  /** @param {End} end */
  #mayAskTokenAgain(end) {
    const may = this.#settings.tokenCanChange && end.code === 4500 && !this.#askedTokenAgain;
    this.#askedTokenAgain ||= may;
    return may;
  }

  /**
   * @param {string} url
   * @param {End} end
   */
  async #firstFailed(url, end) {
    this.#firstTries++;
    const { reconnect, urls } = this.#settings;
    const retryFirst = reconnect?.retryFirst ?? false;
    const tries = retryFirst && reconnect ? reconnect.maxAttempts : Math.max(FIRST_TRIES, urls.length);
    const again = !isVerdict(end, retryFirst) ? this.#firstTries < tries : this.#mayAskTokenAgain(end);
    const left = this.#firstDeadline - this.#env.now();
    // Half of the remaining time is for the try itself, however long the policy would wait.
    const max = retryFirst ? left / 2 : Infinity;
    const inTime = left >= (retryFirst ? MIN_TRY : 0);
    // Untried addresses at once, the same ones after a pause.
    const delay = this.#urls.configuredLeft > 0 ? 0 : this.#backoff.next(end.refusal?.retryAfter ?? 0, max);
    if (again && inTime && delay < left) {
      this.#scheduleTry(this.#urls.next(), delay);
      return;
    }
    const attempt = this.#attempt;
    const failure = await this.#explained(url, end);
    if (attempt === this.#attempt) {
      this.#finish(failure);
    }
  }

  /**
   * @param {string} url
   * @param {End} end
   * @returns {Promise<EventBusError>} with the reason that the platform hides
   */
  async #explained(url, end) {
    const failure = failureOf(end, url);
    if (end.failure || end.welcomed || end.code !== 1006 || !this.#env.explain) {
      return failure;
    }
    const text = await this.#env.explain(url).catch(textOf);
    const status = Number(/^4\d\d(?=:)/.exec(text)?.[0] ?? 500);
    return new EventBusError(failure.code, `${failure.message} (${text})`, { retryable: isTemporary(status) });
  }

  /**
   * @param {string} url
   * @param {End} end
   */
  #retry(url, end) {
    if (this.#state === 'CONNECTED') {
      this.#become('RECONNECTING');
    }
    if (!end.welcomed && ++this.#backoff.unwelcome === SILENT_TRIES) {
      this.#explained(url, end).then(failure => this.#parts.problem(new EventBusError(
        'NOT_CONNECTED', `no connection in ${SILENT_TRIES} tries, and trying on: ${failure.message}`)));
    }
    const to = this.#urls.next();
    const delay = this.#backoff.next(end.refusal?.retryAfter ?? 0);
    this.#events.emit('reconnecting', { attempt: this.#backoff.attempt, url: to, delay });
    this.#scheduleTry(to, delay);
  }

  /**
   * @param {string} url
   * @param {number} delay
   */
  #scheduleTry(url, delay) {
    this.#attempt++;
    this.#nextUrl = url;
    if (this.#isAsleep || this.#state === 'CLOSED') {
      return;
    }
    const attempt = this.#attempt;
    this.#timer = this.#env.setTimeout(() => attempt === this.#attempt && this.#tryNext(url), this.#isOffline ? Math.max(delay, OFFLINE_DELAY) : delay);
  }

  // ---- The page: see Lifecycle

  /**
   * Tries at once, or checks whether the connection is dead: the page is seen or has a network again, or the application wants it.
   */
  wake() {
    this.#isAsleep = false;
    this.#isOffline = false;
    const url = this.#nextUrl;
    if (url !== null && this.#state !== 'CLOSED') {
      this.#stopTimer();
      this.#backoff.reset();
      this.#tryNext(url);
    } else {
      this.#link?.probeIfSilent(5000, 3000);
    }
  }

  /** Delays new tries, because the page has no network. An existing connection stays. */
  offline() {
    this.#isOffline = true;
    if (this.#nextUrl !== null && !this.#isAsleep) {
      this.#stopTimer();
      this.#scheduleTry(this.#nextUrl, OFFLINE_DELAY);
    }
  }

  /** Closes the connection until the page is seen, because it was hidden for long. */
  sleep() {
    if (this.#state !== 'CONNECTED' && this.#state !== 'RECONNECTING') {
      return;
    }
    this.#isAsleep = true;
    this.#stopTimer();
    const link = this.#link;
    if (link && this.connection) {
      const { url } = link;
      this.#move?.abandon();
      this.#move = null;
      this.#link = null;
      link.close('the page is hidden');
      this.#lost(link);
      this.#become('RECONNECTING');
      this.#events.emit('disconnected', { code: 1000, reason: 'the page is hidden', willReconnect: true });
      this.#nextUrl = url;
    } else if (link) {
      this.#link = null;
      link.abort();
      this.#nextUrl = link.url;
    }
  }

  // ---- The end

  /** Sends the buffered events; the application publishes no more. */
  drain() {
    if (this.#state === 'CONNECTED' || this.#state === 'RECONNECTING') {
      this.#become('DRAINING');
    }
  }

  /**
   * Gives the connection up without a verdict.
   * @param {string} reason
   * @param {number} [code] close code for the bus; left out for none
   */
  giveUp(reason, code) {
    this.#link?.fail(reason, null, code);
  }

  /** @param {EventBusError} why reason; closes the connection in good order, and the client with it */
  close(why) {
    this.#parts.calls?.end(why);
    if (this.connection && this.#link) {
      this.#link.close('the client is closed');
      if (this.#state !== 'CLOSED') {
        this.#events.emit('disconnected', { code: 1000, reason: 'the client is closed', willReconnect: false });
      }
    }
    this.#finish(why);
  }

  /** @param {EventBusError} reason */
  #finish(reason) {
    if (this.#state === 'CLOSED') {
      return;
    }
    this.#stopTimer();
    this.#parts.calls?.end(reason);
    this.#attempt++;
    this.#nextUrl = null;
    this.#move?.abandon();
    this.#move = null;
    const link = this.#link;
    link?.abort();
    this.#link = null;
    this.endReason = reason;
    if (link && this.connection) {
      this.#lost(link);
    }
    this.#become('CLOSED');
    this.onEnd();
    this.#first?.reject(reason);
    this.#first = null;
  }

  // ---- Move to another bus

  /**
   * @param {BusLink} link
   * @param {ChangeBus} request
   * @param {number} [heardAt] in ms
   */
  changeBus(link, request, heardAt = this.#env.now()) {
    if (link !== this.#link || !this.connection || this.#state !== 'CONNECTED') {
      return;
    }
    if (this.#move) {
      this.#refuseMove(request.token, 'a move is under way already');
      return;
    }
    const urls = this.#urls.changeBus(link.url, request.urls);
    const now = this.#env.now();
    this.#moves = this.#moves.filter(at => now - at < MINUTE);
    if (urls.length === 0 || this.#moves.length >= MAX_MOVES) {
      this.#urls.stayed();
      this.#refuseMove(request.token, urls.length === 0 ? 'none of the addresses can be used'
        : `this client was moved ${MAX_MOVES} times within a minute already`);
      return;
    }
    // Buses limit moves, too, but a client must not depend on buses that disagree.
    this.#moves.push(now);
    this.#moveToken = request.token;
    this.#move = new BusMove(this.#settings, this.#parts, this, link, {
      urls, producer: this.connection.producer, hello: () => hello(this.#settings, this.#env.agent, this.#known, request.token),
    });
    this.#move.start(request.deadlineMillis, now - heardAt);
  }

  /**
   * Makes the new connection the client's, and closes the old one.
   * @param {BusLink} link
   * @param {Welcome} welcome
   * @param {number} until deadline for the calls that are under way over the old one
   */
  moved(link, welcome, until) {
    const before = /** @type {ConnectionInfo} */ (this.connection);
    this.#move = null;
    this.#link?.leave('the client goes on at another bus', until);
    const now = this.#connected(link, welcome);
    this.#parts.counters.busChanges++;
    this.#events.emit('busChanged', { before, now });
  }

  /**
   * @param {string} url
   * @param {string} why
   */
  stayed(url, why) {
    this.#move = null;
    this.#urls.stayed();
    this.#refuseMove(this.#moveToken, why);
    this.#events.emit('busChangeFailed', { url, why });
  }

  /**
   * @param {string} token
   * @param {string} why
   */
  #refuseMove(token, why) {
    this.#parts.outbox.sendNow(encodeChangeBusFailed(token, why.slice(0, 500)));
  }
}
