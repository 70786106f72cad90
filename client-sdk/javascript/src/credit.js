/** What is received and not handled, over all connections of a client: bytes of `Deliver` frames. */
export class Window {
  /** Bytes that are not handled and hold the bus back: those for subscriptions with BLOCK. */
  unhandled = 0;
  /** Bytes that wait for the others, which make room by themselves. */
  buffered = 0;

  /** @param {number} size bytes that may be */
  constructor(size) {
    this.size = size;
  }

  /** Bytes that may still come. */
  get room() {
    return Math.max(0, this.size - this.unhandled);
  }

  /** Whether the application has not taken what came, so that the bus is held back. */
  get isStalled() {
    return this.unhandled >= this.size / 2;
  }

  /** Whether the others hold more than all of them together are to hold. */
  get isCrowded() {
    return this.buffered > this.size;
  }

  /** Whether so much has come in spite of the limit that the connection has to go: the bus may send beyond it, but not for ever. */
  get isOverrun() {
    return this.unhandled > 4 * this.size + 16 * 2 ** 20;
  }
}

/**
 * How much the bus may deliver over one connection, counted since its `Welcome`. It decides when more is to be granted, and how much;
 * without a clock, and without sending.
 */
export class Credit {
  /** Bytes that have come. */
  received = 0;
  #window;
  // What the bus was told; it may pass it by one frame.
  #limit = -1;
  #refused = false;

  /** @param {Window} window of the client */
  constructor(window) {
    this.#window = window;
  }

  /** @returns {boolean} whether a new limit should be told: none was, or half of the window was handled since the last one */
  get isDue() {
    return !this.#refused && (this.#limit < 0 || this.next - this.#limit >= this.#window.size / 2);
  }

  /** @returns {number} the limit with which the window can be filled */
  get next() {
    return this.received + this.#window.room;
  }

  /**
   * @param {number} limit that the bus is to be told
   * @returns {boolean} false if it needs not be: it is no more than what it was told, or it does not know of credit
   */
  told(limit) {
    if (this.#refused || limit <= this.#limit) {
      return false;
    }
    this.#limit = limit;
    return true;
  }

  /** The bus does not know of credit: it sends as long as it can. */
  refused() {
    this.#refused = true;
  }
}
