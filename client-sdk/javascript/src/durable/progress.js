import { FeedCredits } from './credits.js';

/**
 * Progress of a consumer: how far it was fed, handled and settled, and how much the bus may send. Without a clock, and without sending.
 *
 * Positions that were fed once are not handled again, whichever connection brings it: `covered` only grows. So neither a reconnect nor a move
 * needs an agreement with the bus.
 * @template L a connection
 * @augments {FeedCredits<L>}
 */
export class FeedProgress extends FeedCredits {
  /** Creation of the journal that the positions are of; 0 while it is not known. */
  creation = 0;
  /** Set when the bus has told where the consumer begins. */
  isKnown = false;
  /** Last position that was fed, and last one up to which everything is handled; 0 before the first. */
  covered = 0;
  handled = 0;
  /** Position up to which the bus was told that everything is handled. */
  settled = 0;
  /** Last position of the journal, as the bus has told it. */
  head = 0;
  // Connections over which frames of an earlier creation of the journal may come.
  /** @type {Set<L>} */
  #outdated = new Set();

  /** @param {number} bufferBytes maximum of buffered bytes; one frame may exceed it */
  constructor(bufferBytes) {
    super(bufferBytes, bufferBytes / 2);
  }

  /**
   * @param {number} creation
   * @returns {FeedProgress<L>} that of another creation of the journal
   */
  again(creation) {
    /** @type {FeedProgress<L>} */
    const next = new FeedProgress(this.bufferBytes);
    next.asked = this.asked;
    next.creation = creation;
    next.#outdated = new Set([...this.#outdated, ...this.credits.keys()]);
    return next;
  }

  /**
   * @param {L} link
   * @returns {import('./credits.js').FeedCredit}
   * @override
   */
  accepted(link) {
    this.#outdated.delete(link);
    return super.accepted(link);
  }

  /**
   * @param {L} link
   * @override
   */
  lost(link) {
    this.#outdated.delete(link);
    super.lost(link);
  }

  /**
   * Counts a frame, before it is taken.
   * @param {L} link
   * @param {number} from first position that it covers
   * @param {number} bytes that count against the credit
   * @param {number} head last position of the journal
   * @param {boolean} isNamed whether the bus remembers what is settled
   * @returns {boolean} false for a frame of an earlier creation of the journal
   */
  arrived(link, from, bytes, head, isNamed) {
    if (this.#outdated.has(link)) {
      return false;
    }
    this.head = Math.max(this.head, head);
    const credit = this.accepted(link);
    credit.received += bytes;
    if (credit.isNew) {
      credit.isNew = false;
      // With a name the bus begins behind what is settled there: a settlement may have been lost with a connection.
      this.settled = from - 1;
      if (isNamed || !this.isKnown) {
        // Another consumer has handled the rest of what is settled.
        this.isKnown = true;
        this.reach(from - 1);
        this.covered = Math.max(this.covered, from - 1);
      }
    }
    return true;
  }

  /** @param {number} position up to which everything is handled, here or by another consumer */
  reach(position) {
    this.handled = Math.max(this.handled, position);
  }

  /** @returns {boolean} whether something is handled that the bus was not told of */
  get hasToSettle() {
    return this.handled > this.settled;
  }

  /** @returns {number} */
  get lag() {
    return Math.max(0, this.head - this.handled);
  }
}
