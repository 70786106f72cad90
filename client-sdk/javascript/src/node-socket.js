/// <reference types="node" />
import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { FrameReceiver, maskedFrame, OPCODE, readClose, WebSocketError } from './node-frames.js';

/** @import {Channel, ChannelEvents, Open, Refusal} from './internal.js' */
/** @import {TlsOptions} from './types.js' */

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MAX_HEAD = 16_384;
const MAX_BODY = 4096;
// Maximum retry-after, whatever the answer says, in ms.
const MAX_RETRY_AFTER = 300_000;
// Header of refusals by a bus itself, with any value.
const BY_BUS = 'eventbus-refused';
// Timeout for the body of a refusal and for the answer to a Close, in ms.
const CLOSE_TIMEOUT = 2000;
// Bytes waiting to be sent above which pings are not answered.
const MAX_PONGS = 65_536;
// Error codes of Node and OpenSSL for the certificate of the other side.
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|INVALID_CA|ERR_TLS_CERT/;
const MASKS = 1024;
const EMPTY = new Uint8Array(0);

const masks = new Uint8Array(4 * MASKS);
let nextMask = MASKS;

/** @returns {Uint8Array} 4 unpredictable bytes */
function mask() {
  if (nextMask === MASKS) {
    randomFillSync(masks);
    nextMask = 0;
  }
  const at = 4 * nextMask++;
  return masks.subarray(at, at + 4);
}

// Node's pool aligns its pieces to 8 bytes.
const allocate = (/** @type {number} */ size) => Buffer.allocUnsafe(size);

/**
 * Opens the SDK's own socket: a client of RFC 6455 on TCP or TLS, which sees pings and knows why an upgrade was refused.
 * @type {Open}
 */
export const open = (url, protocol, events, tls) => new NodeSocket(new URL(url), protocol, events, tls ?? {});

/** @implements {Channel} */
class NodeSocket {
  #socket;
  #protocol;
  /** @type {ChannelEvents | null} */
  #events;
  #key = randomBytes(16).toString('base64');
  #receiver = new FrameReceiver(message => this.#events?.onMessage(message), (opcode, payload) => this.#onControl(opcode, payload));
  // Bytes received before the head of the answer is complete.
  /** @type {Uint8Array} */
  #head = EMPTY;
  /** @type {'HEAD' | 'REFUSED' | 'OPEN' | 'CLOSING' | 'CLOSED'} */
  #state = 'HEAD';
  /** @type {Refusal | null} */
  #refusal = null;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {URL} url
   * @param {string} protocol
   * @param {ChannelEvents} events
   * @param {TlsOptions} tls
   */
  constructor(url, protocol, events, tls) {
    this.#protocol = protocol;
    this.#events = events;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const secure = url.protocol === 'wss:';
    const port = Number(url.port) || (secure ? 443 : 80);
    const begin = () => this.#socket.write(
      `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
      + `Sec-WebSocket-Key: ${this.#key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`);
    this.#socket = secure
      ? connectTls({
        host, port, ALPNProtocols: ['http/1.1'], ...(isIP(host) ? {} : { servername: host }),
        .../** @type {import('node:tls').ConnectionOptions} */ (tls), rejectUnauthorized: true,
      }, begin)
      : connectTcp({ host, port }, begin);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', chunk => this.#onData(/** @type {Buffer} */ (chunk)));
    this.#socket.on('drain', () => this.#events?.onDrain());
    this.#socket.on('error', error => this.#failed(error));
    this.#socket.on('close', () => this.#end(1006, ''));
    // The other side sends no more: the socket ends at once.
    this.#socket.on('end', () => this.#socket.destroy());
  }

  /** @param {Error & {code?: string}} error */
  #failed(error) {
    const text = textOf(error);
    if (this.#state === 'HEAD' && CERTIFICATE.test(error.code ?? '')) {
      this.#refusal = { status: 0, text, retryAfter: 0, isByBus: false };
    }
    this.#end(1006, text);
  }

  // ---- Output

  /** @param {Uint8Array[]} chunks */
  send(chunks) {
    if (this.#state === 'OPEN') {
      this.#write(OPCODE.BINARY, chunks);
    }
  }

  get bufferedAmount() {
    return this.#socket.writableLength;
  }

  ping() {
    if (this.#state === 'OPEN') {
      this.#write(OPCODE.PING, []);
    }
  }

  /** @param {number} bytes */
  limit(bytes) {
    this.#receiver.limit = bytes;
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  close(code, reason) {
    if (this.#state === 'OPEN') {
      this.#state = 'CLOSING';
      this.#sendClose(code, reason);
      this.#timer = setTimeout(() => this.#end(1006, 'the bus has not answered the Close'), CLOSE_TIMEOUT);
    } else if (this.#state !== 'CLOSING') {
      this.abort();
    }
  }

  abort() {
    this.#events = null;
    this.#end(1006, '');
  }

  // ---- Input

  /** @param {Uint8Array} chunk */
  #onData(chunk) {
    try {
      switch (this.#state) {
        case 'HEAD': this.#onHead(chunk); break;
        case 'REFUSED': this.#onBody(chunk); break;
        case 'OPEN':
        case 'CLOSING':
          // A part of a message is a sign of life, too.
          this.#events?.onPong();
          this.#receiver.push(chunk);
          break;
        case 'CLOSED': break;
      }
    } catch (thrown) {
      if (!(thrown instanceof WebSocketError)) {
        throw thrown;
      }
      this.#sendClose(thrown.code, thrown.message);
      this.#end(thrown.code, thrown.message);
    }
  }

  /** @param {Uint8Array} chunk */
  #onHead(chunk) {
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = Buffer.from(this.#head.buffer, this.#head.byteOffset, this.#head.length).indexOf('\r\n\r\n');
    if (end < 0 || end > MAX_HEAD) {
      if (this.#head.length > MAX_HEAD) {
        this.#end(1006, `an answer whose head has more than ${MAX_HEAD} bytes (expected: less)`);
      }
      return;
    }
    const lines = Buffer.from(this.#head.subarray(0, end)).toString('latin1').split('\r\n');
    const rest = this.#head.subarray(end + 4);
    this.#head = EMPTY;
    const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(lines[0] ?? '')?.[1];
    const headers = headersOf(lines.slice(1));
    if (status === '101') {
      const problem = this.#handshakeProblem(headers);
      if (problem) {
        this.#end(1002, problem);
        return;
      }
      this.#state = 'OPEN';
      this.#events?.onOpen();
      this.#receiver.push(rest);
    } else if (status) {
      this.#state = 'REFUSED';
      this.#refusal = {
        status: Number(status), text: '', retryAfter: retryAfter(headers.get('retry-after') ?? ''), isByBus: headers.has(BY_BUS),
      };
      this.#timer = setTimeout(() => this.#end(1006, ''), CLOSE_TIMEOUT);
      this.#onBody(rest);
    } else {
      this.#end(1006, 'an answer that is not HTTP/1.1 (expected: a bus)');
    }
  }

  /**
   * @param {Map<string, string>} headers
   * @returns {string | null} the problem of the answer; null for none
   */
  #handshakeProblem(headers) {
    const accept = createHash('sha1').update(this.#key + GUID).digest('base64');
    for (const [name, expected] of [
      ['upgrade', 'websocket'], ['connection', 'upgrade'], ['sec-websocket-accept', accept], ['sec-websocket-protocol', this.#protocol],
    ]) {
      const found = headers.get(/** @type {string} */ (name)) ?? 'nothing';
      const same = name === 'upgrade' || name === 'connection' ? found.toLowerCase().split(/\s*,\s*/).includes(/** @type {string} */ (expected)) : found === expected;
      if (!same) {
        return `${name}: ${found} (expected: ${expected})`;
      }
    }
    return headers.has('sec-websocket-extensions') ? 'sec-websocket-extensions (expected: none, none was asked for)' : null;
  }

  /** @param {Uint8Array} chunk */
  #onBody(chunk) {
    this.#head = Buffer.concat([this.#head, chunk]).subarray(0, MAX_BODY);
  }

  /**
   * @param {number} opcode
   * @param {Uint8Array} payload
   */
  #onControl(opcode, payload) {
    if (opcode === OPCODE.PONG) {
      this.#events?.onPong();
    } else if (opcode === OPCODE.PING) {
      this.#events?.onPong();
      if (this.#state === 'OPEN' && this.#socket.writableLength < MAX_PONGS) {
        this.#write(OPCODE.PONG, [payload]);
      }
    } else {
      const { code, reason } = readClose(payload);
      if (this.#state === 'OPEN') {
        this.#write(OPCODE.CLOSE, [payload.subarray(0, 2)]);
      }
      this.#end(code, reason);
    }
  }

  // ---- Writing and ending

  /**
   * @param {number} opcode
   * @param {Uint8Array[]} chunks
   */
  #write(opcode, chunks) {
    this.#socket.write(maskedFrame(opcode, chunks, mask(), allocate));
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  #sendClose(code, reason) {
    const payload = Buffer.concat([Buffer.of(code >> 8, code & 255), Buffer.from(reason)]);
    // Cuts at the start of a character.
    let end = Math.min(payload.length, 125);
    while (end > 2 && end < payload.length && (/** @type {number} */ (payload[end]) & 0xC0) === 0x80) {
      end--;
    }
    this.#write(OPCODE.CLOSE, [payload.subarray(0, end)]);
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  #end(code, reason) {
    if (this.#state === 'CLOSED') {
      return;
    }
    const refusal = this.#refusal;
    if (refusal && refusal.status !== 0) {
      refusal.text = bodyText(this.#head);
    }
    this.#state = 'CLOSED';
    clearTimeout(this.#timer);
    const events = this.#events;
    this.#events = null;
    if (code === 1006) {
      this.#socket.destroy();
    } else {
      // Sends what was written first.
      this.#socket.end();
      setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT).unref();
    }
    events?.onClose(code, reason, refusal ?? undefined);
  }
}

/**
 * @param {string[]} lines
 * @returns {Map<string, string>} by name in lower case
 */
function headersOf(lines) {
  /** @type {Map<string, string>} */
  const headers = new Map();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) {
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }
  return headers;
}

/**
 * @param {Uint8Array} body
 * @returns {string} one line, without control characters
 */
function bodyText(body) {
  return Buffer.from(body).toString('utf8').replace(/\p{Cc}+/gu, ' ').trim();
}

/**
 * @param {string} text seconds, or a date
 * @returns {number} ms, bounded
 */
function retryAfter(text) {
  const delay = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Math.min(MAX_RETRY_AFTER, Math.max(0, delay || 0));
}

/**
 * @param {unknown} error of Node
 * @returns {string} its message; of several addresses each
 */
function textOf(error) {
  const text = error instanceof AggregateError ? error.errors.map(textOf).join('; ') : error instanceof Error ? error.message : String(error);
  return text.trim();
}
