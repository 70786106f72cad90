import { Malformed } from '../errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const MID = 2 ** 27;
const HIGH = 2 ** 55;

/**
 * Reads Avro's binary encoding from a part of a message. Trusts nothing: every length is checked against the rest of the body before anything is read
 * or allocated. Positions are those of the message, errors tell the distance from the start of the body.
 *
 * 64-bit integers come as numbers where they are sequences, times and ids, and must then be within 2^53; `bigint64` reads all 64 bits.
 */
export class Reader {
  /**
   * The message.
   * @type {Uint8Array}
   */
  bytes = new Uint8Array(0);
  /** Position of the next byte. */
  at = 0;
  /** Position behind the last byte of the body. */
  end = 0;
  #base = 0;
  // Parts of the integer read last: 28, 28 and 8 bits, before zig-zag is undone.
  #low = 0;
  #mid = 0;
  #high = 0;

  /**
   * @param {Uint8Array} bytes a message
   * @param {number} [from] first byte of the body
   * @param {number} [to] behind its last byte
   * @returns {this} itself, at the start of the body
   */
  wrap(bytes, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.at = this.#base = from;
    this.end = to;
    return this;
  }

  /** @returns {boolean} whether nothing is left */
  get done() {
    return this.at >= this.end;
  }

  /**
   * @param {string} field which
   * @returns {number} an integer between -(2^53 - 1) and 2^53 - 1
   */
  long(field) {
    const first = /** @type {number} */ (this.bytes[this.at]);
    if (this.at < this.end && first < 128) {
      this.at++;
      return (first >>> 1) ^ -(first & 1);
    }
    const start = this.at;
    this.#varint(field);
    const magnitude = (this.#low >>> 1) + this.#mid * MID + this.#high * HIGH;
    const value = this.#low & 1 ? -magnitude - 1 : magnitude;
    if (!Number.isSafeInteger(value)) {
      throw this.malformed(field, start, 'a number beyond 2^53', 'at most 9007199254740991');
    }
    return value;
  }

  /**
   * @param {string} field which
   * @returns {bigint} an integer of 64 bits
   */
  bigint64(field) {
    this.#varint(field);
    const raw = (BigInt(this.#high) << 56n) | (BigInt(this.#mid) << 28n) | BigInt(this.#low);
    return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n));
  }

  /**
   * Skips an integer of at most 64 bits.
   * @param {string} field which
   */
  skipLong(field) {
    const { bytes, end } = this;
    let at = this.at;
    while (at < end) {
      if (/** @type {number} */ (bytes[at++]) < 128) {
        if (at - this.at === 10 && /** @type {number} */ (bytes[at - 1]) > 1) {
          break;
        }
        this.at = at;
        return;
      }
      if (at - this.at === 10) {
        break;
      }
    }
    // Throws the error.
    this.#varint(field);
  }

  /** @param {string} field which */
  #varint(field) {
    const { bytes, end } = this;
    const start = this.at;
    let at = start;
    let low = 0;
    let mid = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) {
        throw this.malformed(field, start, 'the end of the data inside an integer', 'a whole one');
      }
      const b = /** @type {number} */ (bytes[at++]);
      const seven = b & 127;
      if (shift < 28) {
        low |= seven << shift;
      } else if (shift < 56) {
        mid |= seven << (shift - 28);
      } else if (shift < 63) {
        high = seven;
      } else {
        high |= seven << 7;
        if (b > 1) {
          break;
        }
      }
      if (b < 128) {
        this.at = at;
        this.#low = low;
        this.#mid = mid;
        this.#high = high;
        return;
      }
    }
    throw this.malformed(field, start, 'an integer of more than 64 bits', 'at most 10 bytes');
  }

  /**
   * @param {string} field which
   * @returns {number} an integer of 32 bits, in at most 5 bytes
   */
  int(field) {
    const start = this.at;
    const value = this.long(field);
    if (value !== (value | 0) || this.at - start > 5) {
      throw this.malformed(field, start, `${value} in ${this.at - start} bytes`, 'an integer of 32 bits in at most 5 bytes');
    }
    return value;
  }

  /**
   * @param {string} field which
   * @returns {boolean} a boolean
   */
  boolean(field) {
    if (this.at >= this.end) {
      throw this.malformed(field, this.at, 'the end of the data', 'a boolean');
    }
    const b = this.bytes[this.at];
    if (b !== 0 && b !== 1) {
      throw this.malformed(field, this.at, String(b), '0 or 1');
    }
    this.at++;
    return b === 1;
  }

  /**
   * @param {string} field which
   * @returns {boolean} whether a union with null has a value
   */
  present(field) {
    const start = this.at;
    const index = this.int(field);
    if (index !== 0 && index !== 1) {
      throw this.malformed(field, start, `union index ${index}`, '0 or 1');
    }
    return index === 1;
  }

  /**
   * @param {string} field which
   * @returns {number} a length within the rest of the body
   */
  length(field) {
    const start = this.at;
    const length = this.long(field);
    const left = this.end - this.at;
    if (length < 0 || length > left) {
      throw this.malformed(field, start, `length ${length}`, `at most the ${left} bytes that are left`);
    }
    return length;
  }

  /**
   * @param {string} field which
   * @returns {string} a text
   */
  string(field) {
    const length = this.length(field);
    const start = this.at;
    this.at = start + length;
    return this.text(field, start, this.at);
  }

  /**
   * @param {string} field which
   * @param {number} from first byte
   * @param {number} to behind the last byte
   * @returns {string} the bytes as UTF-8
   */
  text(field, from, to) {
    try {
      return utf8.decode(this.bytes.subarray(from, to));
    } catch {
      throw this.malformed(field, from, 'bytes that are not UTF-8', 'a string');
    }
  }

  /**
   * Checks a text and skips it.
   * @param {string} field which
   */
  skipString(field) {
    const length = this.length(field);
    const from = this.at;
    const to = from + length;
    this.at = to;
    for (let i = from; i < to; i++) {
      if (/** @type {number} */ (this.bytes[i]) > 127) {
        this.text(field, from, to);
        return;
      }
    }
  }

  /**
   * Reads the items of an array or map.
   *
   * @param {string} field which
   * @param {number} min minimum bytes of an item
   * @param {(count: number) => void} items reads as many items
   */
  blocks(field, min, items) {
    for (;;) {
      const start = this.at;
      let count = this.long(field);
      if (count === 0) {
        return;
      }
      let blockEnd = -1;
      if (count < 0) {
        count = -count;
        const sizeAt = this.at;
        const size = this.long(field);
        const left = this.end - this.at;
        if (size < 0 || size > left) {
          throw this.malformed(field, sizeAt, `block size ${size}`, `0..${left}, the bytes that are left`);
        }
        blockEnd = this.at + size;
      }
      const room = (blockEnd < 0 ? this.end : blockEnd) - this.at;
      const max = Math.floor(room / min);
      if (count > max) {
        throw this.malformed(field, start, `block count ${count}`, `at most the ${max} items that fit in ${room} bytes`);
      }
      items(count);
      if (blockEnd >= 0 && this.at !== blockEnd) {
        throw this.malformed(
          field, this.at, 'a block whose items end here', `the end at byte ${blockEnd - this.#base} that its size gives`);
      }
    }
  }

  /**
   * @param {string} field which
   * @param {number} at position in the message
   * @param {string} found found value
   * @param {string} expected expected value
   * @returns {Malformed} the error
   */
  malformed(field, at, found, expected) {
    return new Malformed(`${field}: ${found} at byte ${at - this.#base} (expected: ${expected})`);
  }
}
