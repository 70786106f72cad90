const MAX_OTHERS = 64;
const MAX_CHARACTERS = 1024;

/**
 * Addresses in the order in which they are tried: first where the last bus sent this client, then the configured ones in turn, then the peers that
 * the last bus named, and then from the start.
 *
 * Addresses from a bus are checked: a client that speaks TLS is not led to an address without it, where its token could be read on the way.
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

  /** Begins with the configured addresses again, after a connection has lasted. */
  startAnew() {
    this.#triedConfigured = 0;
    this.#triedOthers = 0;
  }

  /**
   * Replaces the known peers by those that the bus has named in its `Welcome`.
   * @param {string} by its address
   * @param {string[]} named
   */
  welcomed(by, named) {
    this.#preferred = [];
    this.#others = usable(by, named).filter(url => !this.#configured.includes(url));
  }

  /**
   * Tries these addresses first, because a bus asks for a move.
   * @param {string} by its address
   * @param {string[]} named
   * @returns {string[]} those that can be used
   */
  changeBus(by, named) {
    this.#preferred = usable(by, named);
    return [...this.#preferred];
  }

  /** Forgets the addresses of a move that has failed. */
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
