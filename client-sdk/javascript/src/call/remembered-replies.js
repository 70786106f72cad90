/**
 * A reply as it was sent.
 *
 * @typedef {object} Answer
 * @property {number} handledMicros
 * @property {bigint} schema
 * @property {Uint8Array} bytes
 */

// Bytes of memory that a reply takes beside its event.
const OVERHEAD = 256;

/** The last replies of a service, bounded in number and in bytes. */
export class RememberedReplies {
  #max;
  #maxBytes;
  #bytes = 0;
  /** @type {Map<string, Answer>} */
  #replies = new Map();

  /**
   * @param {number} max
   * @param {number} maxBytes
   */
  constructor(max, maxBytes) {
    this.#max = max;
    this.#maxBytes = maxBytes;
  }

  /** @param {string} key caller and request number */
  get(key) {
    return this.#replies.get(key);
  }

  /**
   * @param {string} key
   * @param {Answer} answer
   */
  add(key, answer) {
    this.#remove(key);
    this.#replies.set(key, answer);
    this.#bytes += answer.bytes.length + OVERHEAD;
    for (const oldest of this.#replies.keys()) {
      if (this.#replies.size <= this.#max && this.#bytes <= this.#maxBytes) {
        return;
      }
      this.#remove(oldest);
    }
  }

  /** @param {string} key */
  #remove(key) {
    const answer = this.#replies.get(key);
    if (answer) {
      this.#replies.delete(key);
      this.#bytes -= answer.bytes.length + OVERHEAD;
    }
  }
}
