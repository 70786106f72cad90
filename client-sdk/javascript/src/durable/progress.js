/**
 * Credit of a consumer over one connection, counted since its `Consume` there.
 *
 * @typedef {object} FeedCredit
 * @property {number} received bytes of Feed frames
 * @property {number} limit granted last; the bus may exceed it by one frame
 * @property {boolean} isNew whether nothing has come yet
 */

/**
 * Progress of a consumer: how far it was fed, handled and settled, and how much the bus may send. Without a clock, and without sending.
 *
 * Positions that were fed once are not handled again, whichever connection brings it: `covered` only grows. So neither a reconnect nor a move
 * needs an agreement with the bus.
 * @template L a connection
 */
export class FeedProgress {
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
  /** Bytes that wait for the application. */
  buffered = 0;
  #bufferBytes;
  /** @type {Map<L, FeedCredit>} */
  #credits = new Map();
  // Connections over which frames of an earlier creation of the journal may come.
  /** @type {Set<L>} */
  #outdated = new Set();
  // Least limit of any `Consume`: the bus that answers was told as much or more. Credit that repeats a part of that does no harm; credit that was taken
  // for granted would be awaited for ever.
  #asked;

  /** @param {number} bufferBytes maximum of buffered bytes; one frame may exceed it */
  constructor(bufferBytes) {
    this.#bufferBytes = this.#asked = bufferBytes;
  }

  /**
   * @param {number} creation
   * @returns {FeedProgress<L>} that of another creation of the journal
   */
  again(creation) {
    /** @type {FeedProgress<L>} */
    const next = new FeedProgress(this.#bufferBytes);
    next.#asked = this.#asked;
    next.creation = creation;
    next.#outdated = new Set([...this.#outdated, ...this.#credits.keys()]);
    return next;
  }

  get #room() {
    return Math.max(0, this.#bufferBytes - this.buffered);
  }

  /** @returns {boolean} whether the bus sends much more than it may */
  get isOverrun() {
    return this.buffered > 4 * this.#bufferBytes + 16 * 2 ** 20;
  }

  /** @returns {number} the limit for a new `Consume`: what waits still takes its room */
  ask() {
    this.#asked = Math.min(this.#asked, this.#room);
    return this.#room;
  }

  /**
   * @param {L} link over which the bus has accepted a `Consume`, or fed already: its bytes count from 0
   * @returns {FeedCredit}
   */
  accepted(link) {
    this.#outdated.delete(link);
    let credit = this.#credits.get(link);
    if (!credit) {
      credit = { received: 0, limit: this.#asked, isNew: true };
      this.#credits.set(link, credit);
    }
    return credit;
  }

  /** @param {L} link that has ended, or whose bus has ended the consumer */
  lost(link) {
    this.#outdated.delete(link);
    this.#credits.delete(link);
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

  /** @returns {{link: L, limit: number, received: number}[]} limits to grant now: of connections where half of the buffer is free since the last one */
  grants() {
    const all = [];
    for (const [link, credit] of this.#credits) {
      const limit = credit.received + this.#room;
      if (limit - credit.limit >= this.#bufferBytes / 2) {
        credit.limit = limit;
        all.push({ link, limit, received: credit.received });
      }
    }
    return all;
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
