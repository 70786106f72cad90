import { textOf } from './errors.js';
import { BusLink } from './bus-link.js';
import { fits } from './batch-splitter.js';

/** @import {End, LinkOwner, Parts, Standby} from './bus-link.js' */
/** @import {Limits} from './types.js' */
/** @import {ChangeBus, Welcome} from './wire/frames.js' */

/**
 * Destination of a move.
 *
 * @typedef {object} Destination
 * @property {string[]} urls at least one
 * @property {bigint} producer the client's number, which it must keep
 * @property {() => Promise<Uint8Array>} hello returns the `Hello` for it
 *
 * @typedef {object} TargetListener
 * @property {() => void} ready a bus has welcomed this client
 * @property {(why: string) => void} unreachable no address has led to a bus that accepts the client
 * @property {(why: string) => void} lost the connection that was ready has ended
 */

/** The new connection of a move: tries the addresses in turn until a bus welcomes this client, and watches the connection from then on. */
export class MoveTarget {
  #parts;
  #listener;
  #standby;
  #heir;
  #destination;
  #timeout;
  #urls;
  #why = 'none of its addresses can be used';
  /** @type {BusLink | null} */
  #link = null;
  /** @type {unknown} */
  #timer = null;
  #isReady = false;
  #isOver = false;
  #isHandedOver = false;
  /** @type {{request: ChangeBus, heardAt: number} | null} a move that the new bus has requested already */
  #next = null;
  /** Address of the current or last try. */
  url;

  /**
   * @param {Parts} parts
   * @param {TargetListener & Standby} listener of the connection
   * @param {LinkOwner & {changeBus: (link: BusLink, request: ChangeBus, heardAt?: number) => void}} heir owner of the connection after the move
   * @param {Destination} destination
   * @param {number} timeout ms for each address
   */
  constructor(parts, listener, heir, destination, timeout) {
    this.#parts = parts;
    this.#listener = this.#standby = listener;
    this.#heir = heir;
    this.#destination = destination;
    this.#timeout = timeout;
    this.#urls = [...destination.urls];
    this.url = /** @type {string} */ (this.#urls[0]);
  }

  /** @returns {BusLink} of the connection that is ready */
  get link() {
    return /** @type {BusLink} */ (this.#link);
  }

  connect() {
    const url = this.#urls.shift();
    if (url === undefined) {
      this.#isOver = true;
      this.#listener.unreachable(this.#why);
      return;
    }
    this.url = url;
    const link = new BusLink(url, this.#parts, this, this.#standby);
    this.#link = link;
    this.#timer = this.#parts.env.setTimeout(() => link.fail(`no answer within ${this.#timeout} ms`), this.#timeout);
    this.#destination.hello().then(frame => this.#link === link && !this.#isOver && link.open(frame), thrown => link.fail(textOf(thrown)));
  }

  /**
   * @param {BusLink} link
   * @param {Welcome} welcome
   */
  welcomed(link, welcome) {
    if (this.#isOver || link !== this.#link) {
      link.abort();
      return;
    }
    this.#stopTimer();
    const problem = this.#problem(welcome);
    if (problem) {
      link.fail(problem);
      return;
    }
    this.#isReady = true;
    this.#listener.ready();
  }

  /** @param {Welcome} welcome */
  #problem({ producer, limits, durable }) {
    if (producer !== this.#destination.producer) {
      // Subscribers could not recognise duplicates.
      return `it knows this client as ${producer}, not as ${this.#destination.producer}`;
    }
    const { limits: now, isDurable } = this.#parts.outbox;
    if (isDurable && !durable) {
      return 'it has no durable topics';
    }
    return now && !fits(now, /** @type {Limits} */ (limits)) ? 'it takes smaller events or messages than those that may be under way already' : null;
  }

  /**
   * @param {BusLink} link
   * @param {End} end
   */
  ended(link, end) {
    if (this.#isHandedOver) {
      this.#heir.ended(link, end);
      return;
    }
    if (this.#isOver || link !== this.#link) {
      return;
    }
    this.#stopTimer();
    this.#why = end.failure?.message ?? (end.code === 1006 && end.reason !== '' ? end.reason : `${end.code} ${end.reason}`);
    if (this.#isReady) {
      this.#isOver = true;
      this.#listener.lost(this.#why);
    } else {
      this.connect();
    }
  }

  /**
   * @param {BusLink} link
   * @param {ChangeBus} request
   */
  changeBus(link, request) {
    if (this.#isHandedOver) {
      this.#heir.changeBus(link, request);
    } else {
      this.#next = { request, heardAt: this.#parts.env.now() };
    }
  }

  #stopTimer() {
    this.#parts.env.clearTimeout(/** @type {never} */ (this.#timer));
    this.#timer = null;
  }

  /** Gives the connection to the heir; `passOn` has to follow. */
  handOver() {
    this.#isHandedOver = true;
  }

  /** Passes on to the heir a move that the new bus has requested meanwhile. */
  passOn() {
    if (this.#next && this.#link) {
      this.#heir.changeBus(this.#link, this.#next.request, this.#next.heardAt);
    }
  }

  /**
   * Closes the connection, because the client stays at its bus.
   * @param {number} until deadline of the calls that are under way over it
   */
  drop(until) {
    this.#stopTimer();
    const wasOver = this.#isOver;
    this.#isOver = true;
    if (!wasOver && this.#isReady) {
      this.#link?.leave('the client stays at its bus', until);
    } else {
      this.#link?.abort();
    }
  }
}
