// Types of the SDK's own parts, which no application sees.

/** @import {EventBusError} from './errors.js' */
/** @import {Decoder, Gap, Interruption, Overflow, TlsOptions} from './types.js' */

/**
 * Options of a subscription that were checked.
 * @typedef {object} SubscriptionSettings
 * @property {string | null} group
 * @property {Overflow} overflow
 * @property {number} bufferBytes
 * @property {Decoder | null} codec
 * @property {AbortSignal | undefined} signal
 * @property {((gap: Gap) => void | Promise<void>) | undefined} onGap
 * @property {((interruption: Interruption) => void | Promise<void>) | undefined} onInterruption
 */

/**
 * A WebSocket, as the client sees it.
 * @typedef {object} Channel
 * @property {(chunks: Uint8Array[]) => void} send one binary message; takes copies
 * @property {number} bufferedAmount bytes that the network has not taken
 * @property {(code: number, reason: string) => void} close
 * @property {() => void} abort ends it at once; nothing is heard of it any more
 * @property {((bytes: number) => void) | null} limit the largest message that is taken from now on
 * @property {(() => void) | null} ping null where pings cannot be sent
 *
 * @typedef {object} ChannelEvents
 * @property {() => void} onOpen
 * @property {(message: Uint8Array) => void} onMessage
 * @property {(code: number, reason: string, refusal?: Refusal) => void} onClose the last one
 * @property {() => void} onDrain the network takes more
 * @property {() => void} onPong a sign of life that is no message
 *
 * An upgrade that was answered with another status than 101.
 * @typedef {object} Refusal
 * @property {number} status of HTTP; 0 for a certificate that is not trusted, where nothing was asked
 * @property {string} text what the answer says
 * @property {number} retryAfter ms, 0 if not told
 * @property {boolean} isByBus whether a bus has answered, and not something before it
 *
 * @callback Open
 * @param {string} url
 * @param {string} protocol
 * @param {ChannelEvents} events
 * @param {TlsOptions} [tls]
 * @returns {Channel}
 */

/**
 * What a client needs of the part that calls services and serves them, which only `eventbus-client/services` has.
 * @typedef {object} CallPort
 * @property {(home: import('./call/call-table.js').Home) => void} join the client that it is a part of
 * @property {(channel: Channel, welcome: import('./wire/frames.js').Welcome) => void} opened a bus has welcomed this client
 * @property {(channel: Channel) => void} lost a connection has ended
 * @property {(channel: Channel, until: number, then: () => void) => void} leave calls `then` once, when the calls of a connection have ended,
 *   or then, on the clock of `env.now`
 * @property {(type: number, body: import('./wire/reader.js').Reader, channel: Channel) => boolean} frame takes a frame; false if it is
 *   none of calls
 * @property {(channel: Channel, max: number) => Uint8Array[]} take a message of requests of so many bytes, unless one alone has more;
 *   empty if none waits
 * @property {boolean} isWaiting whether a request waits to be sent
 * @property {boolean} isIdle whether no request waits for its answer
 * @property {number} someService the id of one; 0 for none
 * @property {() => void} drain takes no new requests
 * @property {(why: EventBusError) => void} end the client has ended
 */

/**
 * What is around a client, so that tests can have another one.
 * @typedef {object} Environment
 * @property {() => number} now ms of a clock that is never set
 * @property {() => number} micros microseconds since 1970
 * @property {() => number} random 0 to 1
 * @property {(task: () => void, delay: number) => unknown} setTimeout
 * @property {(timer: never) => void} clearTimeout
 * @property {Open} open
 * @property {Page | null} page null where there is no document
 * @property {boolean} inBrowser whether this is a page or a worker of one: buses refuse `BLOCK` there by default
 * @property {string} agent software and version
 * @property {((url: string) => Promise<string>) | null} explain says in words why an upgrade may have failed, for whom the platform does not tell
 * @property {(error: unknown) => void} report where errors go for which there is no listener
 * @property {(say: () => string | null) => () => void} onExit asks, when the process ends, what is to be said; returns what takes that back
 *
 * @typedef {object} Page
 * @property {EventTarget & {visibilityState: string}} document
 * @property {EventTarget} window
 */

export {};
