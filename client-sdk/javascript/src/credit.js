/** Bytes of `Deliver` frames that are received and not handled, over all connections of a client. */
export class Window {
  /** Bytes that are not handled and reduce the credit of the bus: those for subscriptions with BLOCK. */
  unhandled = 0;
  /** Bytes that wait for other subscriptions, which make room by themselves. */
  buffered = 0;

  /** @param {number} size maximum of unhandled bytes */
  constructor(size) {
    this.size = size;
  }

  /** Bytes that may still be received. */
  get room() {
    return Math.max(0, this.size - this.unhandled);
  }

  /** Tells whether the application stalls the bus: it has not handled half of the window. */
  get isStalled() {
    return this.unhandled >= this.size / 2;
  }

  /** Tells whether the other subscriptions together hold more than their limit. */
  get isCrowded() {
    return this.buffered > this.size;
  }

  /** Tells whether the connection has to be closed: the bus may send beyond the limit, but not for ever. */
  get isOverrun() {
    return this.unhandled > 4 * this.size + 16 * 2 ** 20;
  }
}

/**
 * Credit of the bus on one connection: bytes that it may deliver, counted since its `Welcome`. Decides when to grant more, and how much; without a
 * clock, and without sending.
 */
export class Credit {
  /** Bytes received. */
  received = 0;
  #window;
  // Limit granted last; the bus may exceed it by one frame.
  #limit = -1;
  #refused = false;

  /** @param {Window} window of the client */
  constructor(window) {
    this.#window = window;
  }

  /** @returns {boolean} whether to grant a new limit: none was granted, or half of the window was handled since the last one */
  get isDue() {
    return !this.#refused && (this.#limit < 0 || this.next - this.#limit >= this.#window.size / 2);
  }

  /** @returns {number} the limit that fills the window */
  get next() {
    return this.received + this.#window.room;
  }

  /**
   * @param {number} limit to grant
   * @returns {boolean} false if there is nothing to send: the limit does not grow, or the bus does not know credit
   */
  granted(limit) {
    if (this.#refused || limit <= this.#limit) {
      return false;
    }
    this.#limit = limit;
    return true;
  }

  /** Grants nothing more: the bus does not know credit, and sends as long as it can. */
  refused() {
    this.#refused = true;
  }
}
