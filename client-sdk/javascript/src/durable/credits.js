/**
 * Credit of a consumer over one connection, counted since its `Consume` there.
 *
 * @typedef {object} FeedCredit
 * @property {number} received bytes of Feed frames
 * @property {number} limit granted last; the bus may exceed it by one frame
 * @property {boolean} isNew whether nothing has come yet
 */

/** Bytes of memory that what a frame has brought takes beside the frame. */
export const AROUND_ITEM = 128;

/**
 * Credit of a consumer over its connections: how much the buses may send. Without a clock, and without sending.
 * @template L a connection
 */
export class FeedCredits {
  /** Bytes that wait for the application. */
  buffered = 0;
  bufferBytes;
  // Least limit of any `Consume`: the bus that answers was told as much or more. Credit that repeats a part of that does no harm; credit that was taken
  // for granted would be awaited for ever.
  asked;
  #step;
  /** @type {Map<L, FeedCredit>} */
  credits = new Map();

  /**
   * @param {number} bufferBytes maximum of buffered bytes; one frame may exceed it
   * @param {number} step bytes by which a limit is raised at least
   */
  constructor(bufferBytes, step) {
    this.bufferBytes = this.asked = bufferBytes;
    this.#step = step;
  }

  get #room() {
    return Math.max(0, this.bufferBytes - this.buffered);
  }

  /** @returns {boolean} whether the bus sends much more than it may */
  get isOverrun() {
    return this.buffered > 4 * this.bufferBytes + 16 * 2 ** 20;
  }

  /** @returns {number} the limit for a new `Consume`: what waits still takes its room */
  ask() {
    this.asked = Math.min(this.asked, this.#room);
    return this.#room;
  }

  /**
   * @param {L} link over which the bus has accepted a `Consume`, or fed already: its bytes count from 0
   * @returns {FeedCredit}
   */
  accepted(link) {
    let credit = this.credits.get(link);
    if (!credit) {
      credit = { received: 0, limit: this.asked, isNew: true };
      this.credits.set(link, credit);
    }
    return credit;
  }

  /** @param {L} link that has ended, or whose bus has ended the consumer, or gets no more credit */
  lost(link) {
    this.credits.delete(link);
  }

  /** @returns {{link: L, limit: number, received: number}[]} limits to grant now: of connections where there is room for a step more since the last one */
  grants() {
    const all = [];
    for (const [link, credit] of this.credits) {
      const limit = credit.received + this.#room;
      if (limit - credit.limit >= this.#step) {
        credit.limit = limit;
        all.push({ link, limit, received: credit.received });
      }
    }
    return all;
  }
}
