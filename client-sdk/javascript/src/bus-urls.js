const MAX_OTHERS = 64;
const MAX_CHARACTERS = 1024;

/**
 * Where to connect to next: first where the last bus sent this client, then the configured addresses in turn, then those of other buses
 * that the last bus knew, and then from the start.
 *
 * What a bus says is checked: a client that speaks TLS to it is not led to where its token would be read on the way.
 */
export class BusUrls {
  #configured;
  /** @type {string[]} */
  #preferred = [];
  /** @type {string[]} */
  #others = [];
  #next = 0;
  #triedConfigured = 0;
  #triedOthers = 0;

  /** @param {string[]} configured at least one */
  constructor(configured) {
    this.#configured = configured;
  }

  /** @returns {string} the next address */
  next() {
    const first = this.#preferred.shift();
    if (first !== undefined) {
      return first;
    }
    if (this.#triedConfigured >= this.#configured.length) {
      const other = this.#others[this.#triedOthers++];
      if (other !== undefined) {
        return other;
      }
      this.startAnew();
    }
    this.#triedConfigured++;
    return /** @type {string} */ (this.#configured[this.#next++ % this.#configured.length]);
  }

  /** @returns {number} configured addresses that were not tried since the start */
  get configuredLeft() {
    return this.#configured.length - this.#triedConfigured;
  }

  /** A connection has held: after it the configured addresses come first again. */
  startAnew() {
    this.#triedConfigured = 0;
    this.#triedOthers = 0;
  }

  /**
   * A bus has greeted this client and says which others there are; what was known is forgotten.
   * @param {string} by its address
   * @param {string[]} named
   */
  welcomed(by, named) {
    this.#preferred = [];
    this.#others = usable(by, named).filter(url => !this.#configured.includes(url));
  }

  /**
   * A bus asks to go on at one of these.
   * @param {string} by its address
   * @param {string[]} named
   * @returns {string[]} those that can be used
   */
  changeBus(by, named) {
    this.#preferred = usable(by, named);
    return [...this.#preferred];
  }

  /** What a bus asked for came to nothing. */
  stayed() {
    this.#preferred = [];
  }
}

/**
 * @param {string} by
 * @param {string[]} named
 */
function usable(by, named) {
  const mayBePlain = by.startsWith('ws:');
  return [...new Set(named)].filter(text => {
    if (text.length > MAX_CHARACTERS) {
      return false;
    }
    try {
      const { protocol, hash, username, password } = new URL(text);
      return (protocol === 'wss:' || (mayBePlain && protocol === 'ws:')) && !hash && !username && !password;
    } catch {
      return false;
    }
  }).slice(0, MAX_OTHERS);
}
