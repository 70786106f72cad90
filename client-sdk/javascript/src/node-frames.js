/**
 * Frames of RFC 6455 for a client: no extensions, messages in one piece for the reader, bounded.
 */

export const OPCODE = /** @type {const} */ ({ CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 });

const MAX_FRAGMENTS = 2 ** 20;
const FIRST_BYTES = 65_536;
const EMPTY = new Uint8Array(0);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A protocol error of the other side; `code` is that of the Close. */
export class WebSocketError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Assembles frames and fragments. Bytes that it passes on are not changed afterwards. */
export class FrameReceiver {
  #onMessage;
  #onControl;
  // Head of the frame being read, and number of its bytes that are here.
  #head = new Uint8Array(10);
  #headAt = 0;
  #opcode = 0;
  #fin = false;
  // Bytes of the payload still to be read; -1 while the head is read.
  #left = -1;
  #control = EMPTY;
  #controlAt = 0;
  // The message being read: flag, parts, and number of frames.
  #isOpen = false;
  #message = EMPTY;
  #messageAt = 0;
  #fragments = 0;
  /** Maximum bytes of a message. */
  limit = 64 * 2 ** 20;

  /**
   * @param {(message: Uint8Array) => void} onMessage a binary message
   * @param {(opcode: number, payload: Uint8Array) => void} onControl Close, Ping or Pong
   */
  constructor(onMessage, onControl) {
    this.#onMessage = onMessage;
    this.#onControl = onControl;
  }

  /**
   * @param {Uint8Array} chunk received bytes; kept
   * @throws {WebSocketError}
   */
  push(chunk) {
    let at = 0;
    // An empty payload is complete without another byte.
    while (at < chunk.length || this.#left === 0) {
      at = this.#left < 0 ? this.#readHead(chunk, at) : this.#readPayload(chunk, at);
    }
  }

  /**
   * @param {Uint8Array} chunk
   * @param {number} from
   */
  #readHead(chunk, from) {
    let at = from;
    const head = this.#head;
    let needed = this.#headBytes();
    while (this.#headAt < needed) {
      if (at === chunk.length) {
        return at;
      }
      head[this.#headAt++] = /** @type {number} */ (chunk[at++]);
      needed = this.#headBytes();
    }
    this.#headAt = 0;
    const first = /** @type {number} */ (head[0]);
    this.#fin = first >= 128;
    this.#opcode = first & 15;
    this.#check(first, this.#length());
    return at;
  }

  #headBytes() {
    const short = this.#headAt < 2 ? 0 : /** @type {number} */ (this.#head[1]) & 127;
    return short === 127 ? 10 : short === 126 ? 4 : 2;
  }

  #length() {
    const view = new DataView(this.#head.buffer);
    const short = view.getUint8(1) & 127;
    return short === 127 ? view.getUint32(2) * 2 ** 32 + view.getUint32(6) : short === 126 ? view.getUint16(2) : short;
  }

  /**
   * @param {number} first byte of the head
   * @param {number} length of the payload
   */
  #check(first, length) {
    const opcode = this.#opcode;
    if (first & 0x70) {
      throw new WebSocketError(1002, `reserved bits ${(first >> 4) & 7} (expected: none, there is no extension)`);
    }
    if (/** @type {number} */ (this.#head[1]) >= 128) {
      throw new WebSocketError(1002, 'a masked frame (expected: a server masks none)');
    }
    if (opcode >= OPCODE.CLOSE) {
      if (opcode > OPCODE.PONG || !this.#fin || length > 125) {
        throw new WebSocketError(1002, `control frame ${opcode} of ${length} bytes${this.#fin ? '' : ', not final'} (expected: 8..10 of at most 125, final)`);
      }
      this.#control = new Uint8Array(length);
      this.#controlAt = 0;
    } else if (opcode === OPCODE.TEXT) {
      throw new WebSocketError(1003, 'a text message (expected: a binary one)');
    } else if (opcode > OPCODE.BINARY) {
      throw new WebSocketError(1002, `opcode ${opcode} (expected: 0, 2, 8, 9 or 10)`);
    } else if (this.#isOpen !== (opcode === OPCODE.CONTINUATION)) {
      throw new WebSocketError(1002, this.#isOpen ? 'a message inside of another (expected: its continuation)' : 'a continuation of nothing (expected: a message)');
    } else {
      if (this.#messageAt + length > this.limit) {
        throw new WebSocketError(1009, `message of ${this.#messageAt + length} bytes (expected: at most ${this.limit})`);
      }
      if (++this.#fragments > MAX_FRAGMENTS) {
        throw new WebSocketError(1009, `message in more than ${MAX_FRAGMENTS} frames (expected: at most that)`);
      }
      this.#isOpen = true;
    }
    this.#left = length;
  }

  /**
   * @param {Uint8Array} chunk
   * @param {number} from
   */
  #readPayload(chunk, from) {
    const here = Math.min(this.#left, chunk.length - from);
    const part = chunk.subarray(from, from + here);
    this.#left -= here;
    const isWhole = this.#left === 0;
    if (isWhole) {
      this.#left = -1;
    }
    if (this.#opcode >= OPCODE.CLOSE) {
      this.#control.set(part, this.#controlAt);
      this.#controlAt += here;
      if (isWhole) {
        this.#onControl(this.#opcode, this.#control);
      }
    } else if (isWhole && this.#fin && this.#messageAt === 0) {
      // The usual case: the payload is in one piece, and not copied.
      this.#done(part);
    } else {
      this.#collect(part);
      if (isWhole && this.#fin) {
        this.#done(this.#message.subarray(0, this.#messageAt));
      }
    }
    return from + here;
  }

  /** @param {Uint8Array} part */
  #collect(part) {
    const needed = this.#messageAt + part.length;
    if (needed > this.#message.length) {
      // Grows with the received bytes, not with the announced length.
      const announced = needed + Math.max(0, this.#left);
      const larger = new Uint8Array(Math.max(needed, Math.min(announced, Math.max(FIRST_BYTES, 2 * this.#message.length))));
      larger.set(this.#message.subarray(0, this.#messageAt));
      this.#message = larger;
    }
    this.#message.set(part, this.#messageAt);
    this.#messageAt = needed;
  }

  /** @param {Uint8Array} message */
  #done(message) {
    this.#isOpen = false;
    this.#message = EMPTY;
    this.#messageAt = 0;
    this.#fragments = 0;
    if (message.length > 0) {
      this.#onMessage(message);
    }
  }
}

/**
 * @param {Uint8Array} payload of a Close
 * @returns {{code: number, reason: string}} code 1005 if there is none
 * @throws {WebSocketError}
 */
export function readClose(payload) {
  if (payload.length === 0) {
    return { code: 1005, reason: '' };
  }
  const code = payload.length < 2 ? 0 : new DataView(payload.buffer, payload.byteOffset).getUint16(0);
  const known = (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);
  if (!known) {
    throw new WebSocketError(1002, `close code ${code} (expected: 1000..1014 that may be sent, or 3000..4999)`);
  }
  try {
    return { code, reason: utf8.decode(payload.subarray(2)) };
  } catch {
    throw new WebSocketError(1007, 'a reason that is not UTF-8 (expected: text)');
  }
}

/** Bytes before the payload: at most 10 of the head and 4 of the mask, so that the payload is aligned to words. */
const FRONT = 16;

/**
 * @param {number} opcode
 * @param {Uint8Array[]} chunks the payload
 * @param {Uint8Array} mask 4 random bytes
 * @param {(size: number) => Uint8Array} allocate returns bytes at an offset that is a multiple of 4, with any content
 * @returns {Uint8Array} a final frame
 */
export function maskedFrame(opcode, chunks, mask, allocate) {
  let length = 0;
  for (const chunk of chunks) {
    length += chunk.length;
  }
  const words = (length + 3) >>> 2;
  const bytes = allocate(FRONT + 4 * words);
  let at = FRONT;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  // In the byte order of this machine, as the words below.
  const key = /** @type {number} */ (new Int32Array(Uint8Array.from(mask).buffer)[0]);
  const view = new Int32Array(bytes.buffer, bytes.byteOffset + FRONT, words);
  for (let i = 0; i < words; i++) {
    view[i] = /** @type {number} */ (view[i]) ^ key;
  }
  bytes.set(mask, FRONT - 4);
  const front = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const start = FRONT - 4 - front;
  const head = new DataView(bytes.buffer, bytes.byteOffset + start, front);
  head.setUint8(0, 128 | opcode);
  if (front === 2) {
    head.setUint8(1, 128 | length);
  } else if (front === 4) {
    head.setUint8(1, 254);
    head.setUint16(2, length);
  } else {
    head.setUint8(1, 255);
    head.setUint32(2, Math.floor(length / 2 ** 32));
    head.setUint32(6, length >>> 0);
  }
  return bytes.subarray(start, FRONT + length);
}
