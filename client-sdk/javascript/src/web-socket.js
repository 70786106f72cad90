import { joined } from './wire/bytes.js';

/** @import {Channel, ChannelEvents, Open} from './internal.js' */

/**
 * @param {typeof WebSocket} Constructor the platform's, or one like it
 * @returns {Open} a transport over it
 */
export function webSocketTransport(Constructor) {
  return (url, protocol, events) => {
    const socket = new Constructor(url, [protocol]);
    socket.binaryType = 'arraybuffer';
    /** @type {ChannelEvents | null} */
    let listener = events;
    socket.onopen = () => {
      if (socket.protocol === protocol) {
        listener?.onOpen();
      } else {
        end(1002, `sub-protocol ${JSON.stringify(socket.protocol)} (expected: ${protocol})`);
      }
    };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) {
        listener?.onMessage(new Uint8Array(data));
      } else {
        end(1003, 'a text message (expected: a binary one)');
      }
    };
    socket.onclose = ({ code, reason }) => take()?.onClose(code, reason);
    // A close event follows, which tells more; but none where a page's Content-Security-Policy forbids the address.
    socket.onerror = () => setTimeout(() => take()?.onClose(1006, ''));

    /** @returns {ChannelEvents | null} at the first call */
    const take = () => {
      const last = listener;
      listener = null;
      return last;
    };
    /**
     * @param {number} code
     * @param {string} reason
     */
    const end = (code, reason) => {
      socket.close();
      take()?.onClose(code, reason);
    };
    /** @type {Channel} */
    const channel = {
      send(chunks) {
        if (socket.readyState === 1) {
          socket.send(/** @type {Uint8Array<ArrayBuffer>} */ (chunks.length === 1 ? chunks[0] : joined(chunks)));
        }
      },
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      close(code, reason) {
        if (code === 1000 || code >= 3000) {
          socket.close(code, reason);
        } else {
          // The platform forbids closing with 1007 and similar codes.
          socket.close();
        }
      },
      abort() {
        listener = null;
        socket.close();
      },
      limit: null,
      ping: null,
    };
    return channel;
  };
}

/**
 * @param {typeof WebSocket} [given] used in place of the platform's
 * @returns {Open} a transport over one of them
 */
export function platformTransport(given = globalThis.WebSocket) {
  if (!given) {
    throw new TypeError('WebSocket: this platform has none (expected: one in the option WebSocket)');
  }
  return webSocketTransport(given);
}
