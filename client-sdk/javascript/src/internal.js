// Internal types, which no application sees.

/** @import {EventBusError} from './errors.js' */
/** @import {Decoder, Gap, Interruption, Overflow, TlsOptions} from './types.js' */

/**
 * Checked options of a subscription.
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
 * @property {(chunks: Uint8Array[]) => void} send sends one binary message; copies the chunks
 * @property {number} bufferedAmount bytes not taken by the network
 * @property {(code: number, reason: string) => void} close
 * @property {() => void} abort ends it at once, without further events
 * @property {((bytes: number) => void) | null} limit sets the maximum size of messages
 * @property {(() => void) | null} ping null where the platform sends no pings
 *
 * @typedef {object} ChannelEvents
 * @property {() => void} onOpen
 * @property {(message: Uint8Array) => void} onMessage
 * @property {(code: number, reason: string, refusal?: Refusal) => void} onClose the last event
 * @property {() => void} onDrain the network takes more
 * @property {() => void} onPong a sign of life other than a message
 *
 * A refused upgrade: an answer with another status than 101.
 * @typedef {object} Refusal
 * @property {number} status of HTTP; 0 for an untrusted certificate, without a request
 * @property {string} text body of the answer
 * @property {number} retryAfter ms, 0 if not told
 * @property {boolean} isByBus whether a bus has answered, and not a proxy before it
 *
 * @callback Open
 * @param {string} url
 * @param {string} protocol
 * @param {ChannelEvents} events
 * @param {TlsOptions} [tls]
 * @returns {Channel}
 */

/**
 * Port of a client to the part that calls and serves services, which only `eventbus-client/services` has.
 * @typedef {object} CallPort
 * @property {(home: import('./call/call-table.js').Home) => void} join sets the client
 * @property {(channel: Channel, welcome: import('./wire/frames.js').Welcome) => void} opened a bus has welcomed the client
 * @property {(channel: Channel) => void} lost a connection has ended
 * @property {(channel: Channel, until: number, then: () => void) => void} leave calls `then` once, when the calls of a connection have ended, or at
 *   `until`, on the clock of `env.now`
 * @property {(type: number, body: import('./wire/reader.js').Reader, channel: Channel) => boolean} frame reads a frame; false if it does not belong
 *   to calls
 * @property {(channel: Channel, max: number) => Uint8Array[]} take returns a message of requests, at most `max` bytes unless one alone has more;
 *   empty if none waits
 * @property {boolean} isWaiting whether a request waits to be sent
 * @property {boolean} isIdle whether no request waits for its answer
 * @property {number} someService the id of one; 0 for none
 * @property {() => void} drain accepts no new requests
 * @property {(why: EventBusError) => void} end the client has ended
 */

/**
 * Port of a client to its consumers of durable topics, which only `eventbus-client/durable` has.
 * @typedef {object} DurablePort
 * @property {(type: number, body: import('./wire/reader.js').Reader, bytes: number, link: import('./bus-link.js').BusLink) => boolean} frame reads a
 *   frame of that many bytes; false if it is not one for consumers
 * @property {(confirm: import('./wire/frames.js').Confirm, link: import('./bus-link.js').BusLink) => void} confirmed a bus has confirmed a frame of any
 *   type
 * @property {(id: number, failure: EventBusError, link: import('./bus-link.js').BusLink) => boolean} refused the bus has refused or ended a consumer;
 *   returns whether a call waits for it
 * @property {(id: number, failure: EventBusError, link: import('./bus-link.js').BusLink) => boolean} settleRefused the bus has refused a settlement;
 *   returns whether a call or the SDK waits for it
 * @property {(id: number, link: import('./bus-link.js').BusLink) => void} refusedAhead the bus that the client is about to move to has done so
 * @property {(link: import('./bus-link.js').BusLink) => void} leave the client is about to leave the bus of a connection
 * @property {(link: import('./bus-link.js').BusLink) => void} lost a connection has ended
 *
 * The parts of a client that consumers use.
 * @typedef {object} DurableHome
 * @property {Environment} env
 * @property {import('./registry.js').Registry} registry
 * @property {import('./emitter.js').Emitter<import('./types.js').ClientEvents>} events
 * @property {import('./types.js').Counters} counters
 * @property {(error: EventBusError) => void} problem reports an error that no call waits for
 * @property {(task: () => void) => () => void} later runs it after `closeTimeout`; returns its cancellation
 * @property {() => void} checkOpen throws CLOSED if the client is closed
 */

/**
 * Environment of a client; tests have another one.
 * @typedef {object} Environment
 * @property {() => number} now ms of a monotonic clock
 * @property {() => number} micros microseconds since 1970
 * @property {() => number} random 0 to 1
 * @property {(task: () => void, delay: number) => unknown} setTimeout
 * @property {(timer: never) => void} clearTimeout
 * @property {Open} open
 * @property {Page | null} page null where there is no document
 * @property {boolean} inBrowser whether this is a page or a worker of one: buses refuse `BLOCK` there by default
 * @property {string} agent software and version
 * @property {((url: string) => Promise<string>) | null} explain returns the reason why an upgrade may have failed, where the platform hides it
 * @property {(error: unknown) => void} report reports errors without a listener
 * @property {(say: () => string | null) => () => void} onExit adds a function that returns a warning when the process ends; returns its removal
 *
 * @typedef {object} Page
 * @property {EventTarget & {visibilityState: string}} document
 * @property {EventTarget} window
 */

export {};
