/**
 * Listeners by type. Not a part of the API: the client offers only `on`.
 *
 * @template {object} Events the argument of each type's listeners
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(event: never) => void>>} */
  #listeners = new Map();
  #report;

  /** @param {(error: unknown) => void} report receives errors of listeners */
  constructor(report) {
    this.#report = report;
  }

  /**
   * @template {keyof Events} K
   * @param {K} type of what to hear
   * @param {(event: Events[K]) => void} listener called for each
   * @returns {() => void} removes the listener
   */
  on(type, listener) {
    if (typeof listener !== 'function') {
      throw new TypeError(`listener of ${String(type)}: ${typeof listener} (expected: a function)`);
    }
    let all = this.#listeners.get(type);
    if (!all) {
      all = new Set();
      this.#listeners.set(type, all);
    }
    // A wrapper, because the same function may be added twice.
    const own = (/** @type {Events[K]} */ event) => listener(event);
    all.add(own);
    return () => void all.delete(own);
  }

  /**
   * @param {keyof Events} type
   * @returns {boolean} whether there is a listener
   */
  has(type) {
    return (this.#listeners.get(type)?.size ?? 0) > 0;
  }

  /**
   * @template {keyof Events} K
   * @param {K} type of what has happened
   * @param {Events[K]} event what the listeners get
   * @returns {boolean} whether there was a listener
   */
  emit(type, event) {
    const all = this.#listeners.get(type);
    if (!all || all.size === 0) {
      return false;
    }
    for (const listener of [...all]) {
      try {
        listener(/** @type {never} */ (event));
      } catch (thrown) {
        this.#report(thrown);
      }
    }
    return true;
  }
}
