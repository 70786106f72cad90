/** @import {ProducerState} from './producers.js' */
/** @import {GapFrame} from './wire/frames.js' */

/**
 * Position of a `Deliver` frame in its message.
 *
 * @typedef {object} HeldDelivery
 * @property {Uint8Array} message
 * @property {number} start of the frame
 * @property {number} from of its body
 * @property {number} to its end
 * @property {number} sequence of the first event
 * @property {boolean} fresh whether it came over the new connection
 */

// Maximum bytes held of the old connection for groups. It has to be read on: the move waits for its answers.
const MAX_OLD_BYTES = 16 * 2 ** 20;

/** Credit of the new bus before the client has moved, in bytes. */
export const STANDBY_CREDIT = 2 ** 20;

/**
 * Deliveries that arrive while a client has two connections, and must not be delivered to the application yet.
 *
 * An event for subscriptions without a group comes over both connections: those of the new one wait here until the old one is drained, and then
 * duplicates are dropped by their numbers. An event for a group comes over one of the two, as the bus has chosen: for topics with a group both
 * connections' deliveries wait here, and are put in the order of their numbers.
 */
export class HeldDeliveries {
  /** @type {(HeldDelivery | GapFrame)[]} for topics without groups, in the order of their arrival */
  plain = [];
  /** @type {Map<ProducerState, HeldDelivery[]>} */
  #grouped = new Map();
  #oldBytes = 0;
  #groupsOnly = false;

  /** @param {HeldDelivery | GapFrame} one of the new connection */
  add(one) {
    if (!this.#groupsOnly) {
      this.plain.push(one);
    }
  }

  /**
   * @param {ProducerState} origin
   * @param {HeldDelivery} one of either connection, for a topic with a group
   */
  addGrouped(origin, one) {
    const all = this.#grouped.get(origin);
    if (all) {
      all.push(one);
    } else {
      this.#grouped.set(origin, [one]);
    }
    if (!one.fresh) {
      this.#oldBytes += one.to - one.start;
    }
  }

  /** Tells whether the old connection has delivered more for groups than may be held. */
  get isTooMuch() {
    return this.#oldBytes > MAX_OLD_BYTES;
  }

  /** Keeps only deliveries for groups, which no other client gets: the new connection is given up. */
  keepGroupsOnly() {
    this.#groupsOnly = true;
    this.plain = [];
  }

  /** @returns {HeldDelivery[]} those for topics with groups, for each producer and topic in the order of their numbers */
  grouped() {
    // Stable: of two copies of an event, the one of the old connection may be first or last.
    return [...this.#grouped.values()].flatMap(all => all.sort((a, b) => a.sequence - b.sequence));
  }
}
