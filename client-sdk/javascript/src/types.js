/** @import {BusEvent} from './event.js' */
/** @import {EventBusError} from './errors.js' */

/**
 * @typedef {'ILLEGAL_TOPIC' | 'TOO_BIG' | 'BUFFER_FULL' | 'NOT_CONNECTED' | 'NO_TOKEN' | 'CONNECTION_LOST' | 'REFUSED' | 'TIMED_OUT' | 'CLOSED'
 *   | 'SLOW_CONSUMER' | 'UNREADABLE_PAYLOAD'} ErrorCode what kind of failure
 * @typedef {FailureCode | 'BUS_LOST'} CallCode why a request has no reply: what the bus or the member says, or that this client's connection has ended
 * @typedef {typeof import('./wire/names.js').FAILURE_CODES[number]} FailureCode
 * @typedef {typeof import('./wire/names.js').EXECUTIONS[number]} Execution whether a member has begun with a request
 * @typedef {typeof import('./wire/names.js').PRIORITIES[number]} Priority which requests are served first where several wait
 * @typedef {typeof import('./wire/names.js').BUS_CODES[number]} BusCode why a bus refused something
 * @typedef {typeof import('./wire/names.js').CHANGE_REASONS[number]} ChangeReason why a bus asks a client to go on elsewhere
 *
 * @typedef {object} ErrorDetails
 * @property {boolean} [retryable] whether the same call may succeed later; default by the code
 * @property {BusCode | undefined} [busCode] what the bus answered
 * @property {unknown} [cause] what it comes from
 */

/**
 * What a bus does with the deliveries of a subscriber that is too slow: `BLOCK` lets the publishers wait, `DROP_OLDEST` drops what
 * waited longest, `CONFLATE` keeps the last event of each key, `DISCONNECT` closes the connection.
 * @typedef {typeof import('./wire/names.js').OVERFLOWS[number]} Overflow
 *
 * Why events are missing: lost (they were published while this client was away, or refused), dropped because the queue of a slow
 * subscriber was full, or replaced by a later one of the same key. `BUFFER_FULL` and `BUFFER_CONFLATED` are the same in this client: the
 * subscription's own `bufferBytes` were used up.
 * @typedef {'LOST' | 'QUEUE_FULL' | 'CONFLATED' | 'BUFFER_FULL' | 'BUFFER_CONFLATED'} GapReason
 *
 * NEW → CONNECTING → CONNECTED ⇄ RECONNECTING, from both DRAINING, from all CLOSED, which is the end.
 * @typedef {'NEW' | 'CONNECTING' | 'CONNECTED' | 'RECONNECTING' | 'DRAINING' | 'CLOSED'} State
 */

/**
 * What a bus accepts from one connection; every figure is a maximum.
 * @typedef {object} Limits
 * @property {number} payloadBytes of one event's payload
 * @property {number} messageBytes of one WebSocket message
 * @property {number} headers of one event
 * @property {number} headerBytes of one event's header names and values together
 * @property {number} subscriptions of one connection
 * @property {number} queueBytes queued for one connection
 */

/**
 * @typedef {object} ConnectionInfo
 * @property {string} url where it leads
 * @property {string} bus the bus's name
 * @property {string} session the bus's name for this connection
 * @property {bigint} producer the number that this client publishes under
 * @property {Limits} limits what the bus accepts
 * @property {number} expiresAt until when the token holds, in µs since the epoch; 0 for always
 */

/**
 * When to try again after a connection was lost: `initialDelay` ms, then `multiplier` times longer after each failure up to `maxDelay`,
 * of which a random part of `jitter` (0 to 1) is left out; at most `maxAttempts` tries in a row.
 * @typedef {object} Reconnect
 * @property {number} [initialDelay] ms, default 100
 * @property {number} [maxDelay] ms, default 10,000
 * @property {number} [multiplier] default 2
 * @property {number} [jitter] default 0.5
 * @property {number} [maxAttempts] default Infinity
 * @property {boolean} [retryFirst] whether the first connection is tried again, too, with the same delays and until `connectTimeout` is over, whatever
 *   stands before the bus answers; default false: three tries
 */

/**
 * One address or several, `ws://` or `wss://`, tried in turn.
 * @typedef {string | URL | (string | URL)[]} Address
 *
 * @typedef {object} Options
 * @property {Address} url one address or several, `ws://` or `wss://`, tried in turn
 * @property {string} [name] for people, need not be unique; default `js-client`
 * @property {string} [user] for a bus that has users; `token` is the password then. At most 255 bytes
 * @property {string | (() => string | Promise<string>)} [token] for a bus that wants one; a function is asked at every connect, before
 *   the token expires, and once more when a token was refused. It has `connectTimeout`; where it fails, `problem` tells its message
 * @property {Record<string, string>} [attributes] for the bus's operators, 1,024 bytes in all
 * @property {AbortSignal} [signal] gives up the first connection; the client is closed then
 * @property {number} [connectTimeout] ms for the first connection, and for each later try; default 10,000
 * @property {number} [confirmTimeout] ms until `publish` fails with TIMED_OUT; default 30,000
 * @property {number} [silenceTimeout] ms without a sign of the bus until the connection is given up; default 40,000
 * @property {number} [closeTimeout] ms that `close` waits for what is under way; default 10,000
 * @property {Reconnect | false} [reconnect] false: the first lost connection closes the client
 * @property {number} [outboundBytes] bytes of events that are not sent, or not confirmed; default 16 MiB
 * @property {number} [batchBytes] bytes of one message, unless an event alone is larger; default 64 KiB
 * @property {'wait' | 'fail'} [whenFull] what `publish` does when `outboundBytes` are used up; default wait
 * @property {number} [blockTimeout] ms that it waits; default 30,000
 * @property {number} [receiveBytes] bytes that are received and not handled; default 4 MiB. Those for subscriptions with `BLOCK` hold the bus
 *   back, the buffers of all others together hold at most as much
 * @property {number} [trackedProducers] pairs of topic and producer of which repetitions and gaps are known; default 100,000, in a page 10,000
 * @property {number} [hiddenFor] ms after which a page that is hidden closes its connection, to open it again when it is seen; default never
 * @property {typeof WebSocket} [WebSocket] used instead of the platform's, and instead of the SDK's own socket in Node
 * @property {TlsOptions} [tls] Node only, for `wss://`
 *
 * Options of Node's `tls.connect`.
 * @typedef {object} TlsOptions
 * @property {string | Uint8Array | (string | Uint8Array)[]} [ca] certificates that are trusted, in PEM
 * @property {string | Uint8Array} [cert] this client's certificate, in PEM
 * @property {string | Uint8Array} [key] its private key, in PEM
 * @property {string} [passphrase] of the key
 * @property {string} [servername] the name that the bus's certificate has to have
 */

/**
 * Reads and writes payloads.
 * @template T
 * @typedef {object} Codec
 * @property {bigint} [fingerprint] CRC-64-AVRO of the schema that it writes; left out for none
 * @property {(value: T) => Uint8Array} encode must return bytes that are not changed later
 * @property {(payload: Uint8Array, schema: bigint) => T} decode gets the fingerprint of the writer's schema, 0n for none
 */

/**
 * The half of a codec that publishing needs.
 * @template [T=never]
 * @typedef {object} Encoder
 * @property {bigint} [fingerprint]
 * @property {(value: T) => Uint8Array} encode
 */

/**
 * The half that a subscription needs.
 * @template [T=unknown]
 * @typedef {object} Decoder
 * @property {(payload: Uint8Array, schema: bigint) => T} decode
 */

/**
 * An object that JSON can write: promises, maps, sets, blobs, errors, functions and the like would be `{}`.
 * @typedef {object & {readonly then?: never, readonly arrayBuffer?: never, readonly bind?: never, readonly [Symbol.toStringTag]?: never}} Plain
 *
 * What can be published without a codec: text as UTF-8, bytes as they are, all else as JSON.
 * @typedef {Plain & ({readonly stack?: never} | {readonly name?: never})} NoError
 * @typedef {string | number | boolean | null | ArrayBuffer | ArrayBufferView | readonly unknown[] | {readonly [name: string]: unknown} | NoError} Payload
 *
 * @typedef {object} SendOptions
 * @property {string} [key] what CONFLATE goes by, at most 4,096 bytes
 * @property {Record<string, string>} [headers] for the application
 * @property {number} [publishedAt] microseconds since 1970; default now
 * @property {bigint} [schema] fingerprint of the payload's schema; default the codec's
 * @property {Encoder} [codec] writes the payload
 *
 * @typedef {object} PublishSignal
 * @property {AbortSignal} [signal] takes back what waits for room, and stops waiting for the confirmation of an event that was taken, which is
 *   published all the same
 *
 * @typedef {SendOptions & PublishSignal} PublishOptions
 *
 * @typedef {object} Published
 * @property {string} topic
 * @property {bigint} producer
 * @property {number} sequence
 * @property {number | undefined} receivers for how many it was queued: subscriptions of the bus, and other buses that have some; undefined where
 *   the bus does not tell
 *
 * @typedef {object} WaitOptions
 * @property {number} [timeout] ms
 * @property {AbortSignal} [signal] stops waiting
 */

/**
 * When a request that failed is sent again by itself, within its time-out: only where it was not executed, or perhaps, and is idempotent.
 * @typedef {object} Retry
 * @property {number} [attempts] how often it is sent in all; default 3
 * @property {number} [initialDelay] ms, default 50
 * @property {number} [maxDelay] ms, default 2,000
 * @property {number} [multiplier] default 2
 * @property {number} [jitter] 0 to 1, the greatest part of a pause that is left out by chance; default 0.5
 *
 * @typedef {object} RequestOnly
 * @property {string} [method] what the service is to do, for the member alone; at most 255 bytes
 * @property {number} [timeout] ms, 1 to 600,000; default 30,000. After it the request is not sent, and no handler is begun with it
 * @property {number} [waitFor] ms of that which the bus waits for a member where the service has none; default 0: the request fails at once
 * @property {boolean} [idempotent] whether it may be executed more than once; only then is a request that may have been executed sent again
 * @property {Priority} [priority] default `NORMAL`
 * @property {bigint} [member] the only member to ask: of an earlier `Response`
 * @property {Retry | false} [retry] default: what was refused and not executed is sent again after the time that the refusal names, as long as
 *   `timeout` allows; and an idempotent request as `Retry` says. False: never
 * @property {Decoder} [replyCodec] reads the reply for `response.value()`
 * @property {AbortSignal} [signal] cancels the request; it rejects with the signal's reason
 *
 * @typedef {SendOptions & RequestOnly} RequestOptions
 *
 * @typedef {object} ServeOptions
 * @property {number} [concurrency] requests that the handler works on at once, 1 to 65,536; default 16. The bus sends a few more ahead
 * @property {boolean} [identify] whether `invocation.identity` is to say who calls
 * @property {string} [version] of the software that serves, for people; at most 255 bytes
 * @property {Record<string, string>} [metadata] for people and their tools, 4,096 bytes in all
 * @property {number} [rememberReplies] so many replies are kept, so that a request that comes again is not executed again; default 0. One that
 *   comes again while it is worked on gets that reply in any case
 * @property {number} [bufferBytes] of requests that wait for the handler, and as much again of replies that are kept; default 16 MiB. A
 *   request that does not fit is refused, and not executed
 * @property {Decoder} [codec] reads requests for `invocation.event.value()`
 * @property {AbortSignal} [signal] ends the service
 * @property {Encoder} [replyCodec] writes what the handler returns
 *
 * @callback RequestHandler
 * @param {import('./call/invocation.js').Invocation} invocation
 * @returns {unknown} the payload of the reply, or a `Reply` with more; or a promise of one. Undefined is an empty payload
 *
 * @typedef {object} ServiceCounters
 * @property {number} received requests that have come
 * @property {number} answered requests that the handler has answered
 * @property {number} failed requests that the handler has failed or rejected
 * @property {number} expired requests whose time was over before the handler
 * @property {number} cancelled requests that nobody waited for any more, before the handler or in it
 * @property {number} refused requests that were not taken because too much waited
 * @property {number} repeated requests that came again and got the reply of the first time
 * @property {number} running requests that the handler is at now
 * @property {number} waiting requests that wait for it now
 * @property {number} waitingBytes what these take
 */

/**
 * What can be published with a codec, or without one.
 * @template C
 * @typedef {C extends Encoder<infer T> ? T : Payload} PayloadFor
 */

/**
 * @template [T=unknown] what the codec reads
 * @typedef {object} SubscribeOptions
 * @property {string} [group] shares the events with all other subscriptions of this group
 * @property {Overflow} [overflow] default `BLOCK`, in a browser `DROP_OLDEST`
 * @property {number} [bufferBytes] bytes that wait for it, at least 1,024; default a quarter of `receiveBytes`. Above it `DROP_OLDEST`,
 *   `CONFLATE` and `DISCONNECT` act in the client, and under `BLOCK` it is told that the others wait
 * @property {Decoder<T>} [codec] reads payloads for `event.value()`
 * @property {AbortSignal} [signal] ends the subscription
 * @property {(interruption: Interruption) => void | Promise<void>} [onInterruption] is called where the subscription was away: in order with
 *   the events, by a reader when it passes the place; what follows waits for the promise
 * @property {(gap: Gap) => void | Promise<void>} [onGap] is called where events are missing, as `onInterruption` is
 */

/**
 * @template [T=unknown] what the codec reads
 * @callback Handler
 * @param {BusEvent<T>} event
 * @returns {void | Promise<void>} the next event of the subscription waits for the promise
 */

/**
 * @typedef {object} SubscriptionCounters
 * @property {number} received events handed to it
 * @property {number} duplicates events that came again and were dropped
 * @property {number} missing events told as gaps
 * @property {number} interruptions times that it was away
 * @property {number} failed handlers that have failed
 * @property {number} queued events that wait for it
 */

/**
 * An event as `JSON.stringify` writes it; 64-bit numbers as text.
 * @typedef {object} EventJson
 * @property {string} topic
 * @property {number} sequence
 * @property {string} producer
 * @property {string} schema
 * @property {number} publishedAt
 * @property {number} receivedAt
 * @property {string | null} key
 * @property {Record<string, string>} headers
 * @property {string} payload
 */

/**
 * What a client has done since it was made.
 * @typedef {object} Counters
 * @property {number} published events accepted for sending
 * @property {number} confirmed events that the bus confirmed
 * @property {number} resent events that were sent again after a reconnect
 * @property {number} droppedFull events refused because the outbound buffer was full
 * @property {number} indeterminate events without confirmation that were under way when a connection ended
 * @property {number} messagesSent WebSocket messages with events; published / messagesSent is the mean batch
 * @property {number} received events received, without duplicates, counted once for all subscriptions
 * @property {number} duplicates events received again and dropped
 * @property {number} missing events told as gaps
 * @property {number} interruptions times that a subscription was away
 * @property {number} handlerFailures handlers that have failed
 * @property {number} reconnects connections made after the first
 * @property {number} busChanges times that the client went on at another bus because its bus asked it to
 * @property {number} unknownFrames frames of types that this version does not know, which were skipped
 * @property {number} publishedTopics topics that the client has published to
 * @property {number} bufferedBytes bytes of events that are not sent, or not confirmed
 * @property {number} unhandledBytes bytes that are received and not handled
 */

/**
 * @typedef {object} Gap
 * @property {string} topic
 * @property {bigint} producer
 * @property {number} from the first sequence that is missing
 * @property {number} to the last one
 * @property {GapReason} reason
 * @property {string} [filter] of the subscription whose own buffer had no room; left out where the gap is every subscription's
 */

/**
 * A time in which a subscription was away: any events of it may be missing, of whatever topic, known or not. No gap tells of those that came last
 * before the client was back, of topics that were not seen before, and of what a group has lost.
 * @typedef {object} Interruption
 * @property {number} from when something was heard last over the connection that was lost, in microseconds since 1970 by this machine's clock. What
 *   was published before and waited in the bus for a subscriber that is behind is lost with the connection, too
 * @property {number} to when a bus confirmed the subscription again
 *
 * @typedef {object} SubscriptionInterruption
 * @property {import('./subscription.js').Subscription} subscription
 * @property {string} filter
 *
 * @typedef {Interruption & SubscriptionInterruption} ClientInterruption
 */

/**
 * What `on` tells.
 * @typedef {object} ClientEvents
 * @property {ConnectionInfo} connected a bus has welcomed this client, the first time or again
 * @property {{code: number, reason: string, willReconnect: boolean}} disconnected a connection has ended; 1006 without a Close frame
 * @property {{attempt: number, url: string, delay: number}} reconnecting the next try begins in `delay` ms
 * @property {{before: ConnectionInfo, now: ConnectionInfo}} busChanged the client went on at another bus
 * @property {{url: string, why: string}} busChangeFailed the client stays at its bus
 * @property {Gap} gap events are missing; told as soon as it is known, while `onGap` of a subscription is called in order with the events
 * @property {ClientInterruption} interruption a subscription was away; told as soon as it is in force again
 * @property {{events: number, cause: 'CONNECTION_LOST' | 'CLOSED' | 'TOO_BIG'}} dropped events that `send` took are lost, or may be
 * @property {EventBusError} problem something went wrong that no call has told
 * @property {{error: unknown, event: BusEvent | null}} handlerError a handler has failed; the event counts as handled. Null of `onGap` and
 *   `onInterruption`
 * @property {{error: unknown, invocation: import('./call/invocation.js').Invocation}} requestFailed the handler of a service has failed; the
 *   caller learns no more than the name of the error's class
 * @property {{before: bigint, now: bigint}} producerChanged the bus knows this client by another number: what was sent again may
 *   come twice
 * @property {{state: State, before: State}} state
 */

export {};
