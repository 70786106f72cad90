/**
 * The next sequence of topics that a publisher has forgotten otherwise. When there are too many, all are let go, and whatever is
 * not known starts above every number that was: to subscribers that is a hole that is none, which is told and harmless. A number that is
 * used twice would lose an event.
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

  /** All numbers begin again. */
  clear() {
    this.#next.clear();
    this.#floor = this.#highest = 1;
  }
}
