import { utf8 } from './bytes.js';

/** Writes Avro's binary encoding into a growing array. The caller has checked the values. */
export class Writer {
  /** @param {number} [capacity] bytes to begin with */
  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
    this.at = 0;
  }

  /** @param {number} more bytes for which there must be room */
  reserve(more) {
    const needed = this.at + more;
    if (needed > this.bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.at));
      this.bytes = larger;
    }
  }

  /** @param {number} value an integer within 2^53 */
  long(value) {
    this.reserve(10);
    const { bytes } = this;
    let at = this.at;
    if (value >= -0x2000_0000 && value < 0x2000_0000) {
      let raw = ((value << 1) ^ (value >> 31)) >>> 0;
      while (raw > 127) {
        bytes[at++] = (raw & 127) | 128;
        raw >>>= 7;
      }
      bytes[at++] = raw;
      this.at = at;
      return;
    }
    // Zig-zag needs one bit more than a number has: the last bit is written by itself.
    const odd = value < 0 ? 1 : 0;
    let magnitude = odd ? -value - 1 : value;
    bytes[at++] = ((magnitude % 64) << 1) | odd | 128;
    magnitude = Math.floor(magnitude / 64);
    while (magnitude > 127) {
      bytes[at++] = (magnitude % 128) | 128;
      magnitude = Math.floor(magnitude / 128);
    }
    bytes[at++] = magnitude;
    this.at = at;
  }

  /** @param {bigint} value an integer of 64 bits */
  bigint64(value) {
    this.reserve(10);
    let raw = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (raw > 127n) {
      this.bytes[this.at++] = Number(raw & 127n) | 128;
      raw >>= 7n;
    }
    this.bytes[this.at++] = Number(raw);
  }

  /** @param {boolean} value */
  boolean(value) {
    this.reserve(1);
    this.bytes[this.at++] = value ? 1 : 0;
  }

  /** @param {Uint8Array} value without a length before it */
  raw(value) {
    this.reserve(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** @param {Uint8Array} value with its length before it */
  data(value) {
    this.long(value.length);
    this.raw(value);
  }

  /** @param {string} value */
  string(value) {
    const length = value.length;
    this.reserve(10 + 3 * length);
    const before = this.at;
    // The usual case: ASCII, whose length is known before it is written.
    this.long(length);
    const { bytes } = this;
    let at = this.at;
    for (let i = 0; i < length; i++) {
      const c = value.charCodeAt(i);
      if (c > 127) {
        this.at = before;
        this.data(utf8(value));
        return;
      }
      bytes[at++] = c;
    }
    this.at = at;
  }

  /** @param {string | null | undefined} value null and undefined are the union's null */
  optional(value) {
    if (value === null || value === undefined) {
      this.boolean(false);
    } else {
      // Branch 1.
      this.long(1);
      this.string(value);
    }
  }

  /** @param {Record<string, string>} value */
  map(value) {
    const names = Object.keys(value);
    if (names.length > 0) {
      this.long(names.length);
      for (const name of names) {
        this.string(name);
        this.string(/** @type {string} */ (value[name]));
      }
    }
    this.long(0);
  }

  /** @returns {Uint8Array} a copy of the written bytes */
  done() {
    return this.bytes.slice(0, this.at);
  }
}

/**
 * @param {number} value an integer from 0 to 2^53 - 1
 * @returns {number} bytes that it takes
 */
export function longBytes(value) {
  let bytes = 1;
  for (let rest = Math.floor(value / 64); rest > 0; rest = Math.floor(rest / 128)) {
    bytes++;
  }
  return bytes;
}
