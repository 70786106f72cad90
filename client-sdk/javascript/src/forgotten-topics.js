/**
 * Next sequence numbers of topics that a publisher has otherwise forgotten. When there are too many, all are dropped, and unknown topics continue
 * above every dropped number: subscribers see a harmless gap. A number used twice would lose an event.
 */
export class ForgottenTopics {
  /** @type {Map<string, number>} */
  #next = new Map();
  #floor = 1;
  #highest = 1;
  #max;

  /** @param {number} max topics that are remembered */
  constructor(max) {
    this.#max = max;
  }

  /** @returns {number} */
  get size() {
    return this.#next.size;
  }

  /**
   * @param {string} topic
   * @param {number} next
   */
  put(topic, next) {
    this.#highest = Math.max(this.#highest, next);
    if (this.#next.size >= this.#max) {
      this.#next.clear();
      this.#floor = this.#highest;
    }
    this.#next.set(topic, next);
  }

  /**
   * @param {string} topic
   * @returns {number} the next sequence, 1 of a new topic
   */
  take(topic) {
    const next = this.#next.get(topic) ?? this.#floor;
    this.#next.delete(topic);
    return next;
  }

  /** Forgets all numbers: they begin again. */
  clear() {
    this.#next.clear();
    this.#floor = this.#highest = 1;
  }
}
