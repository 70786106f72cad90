/**
 * A queue whose front is taken without moving the rest.
 * @template T
 */
export class Fifo {
  /** @type {T[]} */
  #items = [];
  #head = 0;

  /** @returns {number} */
  get size() {
    return this.#items.length - this.#head;
  }

  /** @returns {T | undefined} */
  get first() {
    return this.#items[this.#head];
  }

  /** @param {T} item */
  push(item) {
    this.#items.push(item);
  }

  shift() {
    this.#head++;
    if (this.#head === this.#items.length || this.#head === 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }

  /**
   * @param {(item: T) => boolean} condition
   * @returns {T | undefined} the first one that meets it
   */
  find(condition) {
    for (let i = this.#head; i < this.#items.length; i++) {
      const item = /** @type {T} */ (this.#items[i]);
      if (condition(item)) {
        return item;
      }
    }
    return undefined;
  }

  /** @param {T[]} items to the front, in order */
  unshift(items) {
    this.#items = [...items, ...this.#items.slice(this.#head)];
    this.#head = 0;
  }

  /** @param {(item: T) => boolean} condition true for items that stay */
  keep(condition) {
    this.#items = this.#items.slice(this.#head).filter(condition);
    this.#head = 0;
  }

  /** @param {(item: T) => void} visit */
  forEach(visit) {
    for (let i = this.#head; i < this.#items.length; i++) {
      visit(/** @type {T} */ (this.#items[i]));
    }
  }

  clear() {
    this.#items = [];
    this.#head = 0;
  }
}
