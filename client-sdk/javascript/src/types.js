/** @import {BusEvent} from './event.js' */
/** @import {EventBusError} from './errors.js' */

/**
 * @typedef {'ILLEGAL_TOPIC' | 'TOO_BIG' | 'BUFFER_FULL' | 'NOT_CONNECTED' | 'NO_TOKEN' | 'CONNECTION_LOST' | 'REFUSED' | 'TIMED_OUT' | 'CLOSED'
 *   | 'SLOW_CONSUMER' | 'TRUNCATED' | 'UNREADABLE_PAYLOAD'} ErrorCode what kind of failure
 * @typedef {FailureCode | 'BUS_LOST'} CallCode reason why a request has no reply, from the bus or the member; or the end of this client's connection
 * @typedef {typeof import('./wire/names.js').FAILURE_CODES[number]} FailureCode
 * @typedef {typeof import('./wire/names.js').EXECUTIONS[number]} Execution whether a member has begun with a request
 * @typedef {typeof import('./wire/names.js').PRIORITIES[number]} Priority priority of a request among those that wait
 * @typedef {typeof import('./wire/names.js').BUS_CODES[number]} BusCode reason of a refusal by a bus
 * @typedef {typeof import('./wire/names.js').CHANGE_REASONS[number]} ChangeReason reason why a bus asks a client to move
 *
 * @typedef {object} ErrorDetails
 * @property {boolean} [retryable] whether the same call may succeed later; default by the code
 * @property {BusCode | undefined} [busCode] code from the bus
 * @property {unknown} [cause] cause of the error
 */

/**
 * Policy of a bus for the deliveries of a slow subscriber: `BLOCK` stalls the publishers, `DROP_OLDEST` drops the oldest events, `CONFLATE` keeps the
 * last event of each key, `DISCONNECT` closes the connection.
 * @typedef {typeof import('./wire/names.js').OVERFLOWS[number]} Overflow
 *
 * Reason why events are missing: lost (published while this client was away, or refused), dropped because the queue of a slow subscriber was full, or
 * replaced by a later one of the same key. `BUFFER_FULL` and `BUFFER_CONFLATED` are the same in this client: the subscription's own `bufferBytes`
 * were used up.
 * @typedef {'LOST' | 'QUEUE_FULL' | 'CONFLATED' | 'BUFFER_FULL' | 'BUFFER_CONFLATED'} GapReason
 *
 * NEW → CONNECTING → CONNECTED ⇄ RECONNECTING, from both DRAINING, from all CLOSED, which is the end.
 * @typedef {'NEW' | 'CONNECTING' | 'CONNECTED' | 'RECONNECTING' | 'DRAINING' | 'CLOSED'} State
 */

/**
 * Limits of a bus for one connection; every figure is a maximum.
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
 * @property {string} url address of the bus
 * @property {string} bus the bus's name
 * @property {string} session name that the bus has given this connection
 * @property {bigint} producer the number that this client publishes under
 * @property {Limits} limits of the bus
 * @property {number} expiresAt expiry of the token, in µs since the epoch; 0 for none
 */

/**
 * Delays before a new connection: `initialDelay` ms, then `multiplier` times longer after each failure up to `maxDelay`, minus a random part of at
 * most `jitter` (0 to 1); at most `maxAttempts` tries in a row.
 * @typedef {object} Reconnect
 * @property {number} [initialDelay] ms, default 100
 * @property {number} [maxDelay] ms, default 10,000
 * @property {number} [multiplier] default 2
 * @property {number} [jitter] default 0.5
 * @property {number} [maxAttempts] default Infinity
 * @property {boolean} [retryFirst] whether to retry the first connection, too, with the same delays until `connectTimeout`, whatever a proxy before
 *   the bus answers; default false: three tries
 */

/**
 * Address, or several of them, `ws://` or `wss://`, tried in turn.
 * @typedef {string | URL | (string | URL)[]} Address
 *
 * @typedef {object} Options
 * @property {Address} url one address or several, `ws://` or `wss://`, tried in turn
 * @property {string} [name] for people, need not be unique; default `js-client`
 * @property {string} [user] for a bus that has users; `token` is the password then. At most 255 bytes
 * @property {string | (() => string | Promise<string>)} [token] for a bus that wants one; a function is called at every connect, before the token
 *   expires, and once more when a token was refused. Its timeout is `connectTimeout`; `problem` reports its failures
 * @property {Record<string, string>} [attributes] for the bus's operators, 1,024 bytes in all
 * @property {AbortSignal} [signal] aborts the first connection; the client is closed then
 * @property {number} [connectTimeout] ms for the first connection, and for each later try; default 10,000
 * @property {number} [confirmTimeout] ms until `publish` fails with TIMED_OUT; default 30,000
 * @property {number} [silenceTimeout] ms without a receipt after which the connection is given up; default 40,000
 * @property {number} [closeTimeout] maximum time of `close` in ms; default 10,000
 * @property {Reconnect | false} [reconnect] false: the first lost connection closes the client
 * @property {number} [outboundBytes] bytes of events that are not sent, or not confirmed; default 16 MiB
 * @property {number} [batchBytes] bytes of one message, unless an event alone is larger; default 64 KiB
 * @property {'wait' | 'fail'} [whenFull] behaviour of `publish` when `outboundBytes` are used up; default wait
 * @property {number} [blockTimeout] maximum wait of `publish` in ms; default 30,000
 * @property {number} [receiveBytes] bytes received and not handled; default 4 MiB. Events for subscriptions with `BLOCK` use up the credit of the
 *   bus, the buffers of all others together hold at most as much
 * @property {number} [trackedProducers] pairs of topic and producer whose duplicates and gaps are recognised; default 100,000, in a page 10,000
 * @property {number} [hiddenFor] ms after which a hidden page closes its connection, to open it again when it is seen; default never
 * @property {typeof WebSocket} [WebSocket] used instead of the platform's, and instead of the SDK's own socket in Node
 * @property {TlsOptions} [tls] Node only, for `wss://`
 *
 * Options of Node's `tls.connect`.
 * @typedef {object} TlsOptions
 * @property {string | Uint8Array | (string | Uint8Array)[]} [ca] trusted certificates, in PEM
 * @property {string | Uint8Array} [cert] this client's certificate, in PEM
 * @property {string | Uint8Array} [key] its private key, in PEM
 * @property {string} [passphrase] of the key
 * @property {string} [servername] expected name of the bus's certificate
 */

/**
 * Reads and writes payloads.
 * @template T
 * @typedef {object} Codec
 * @property {bigint} [fingerprint] CRC-64-AVRO of the schema that it writes; left out for none
 * @property {(value: T) => Uint8Array} encode returns bytes that must not be changed later
 * @property {(payload: Uint8Array, schema: bigint) => T} decode gets the fingerprint of the writer's schema, 0n for none
 */

/**
 * The half of a codec for publishing.
 * @template [T=never]
 * @typedef {object} Encoder
 * @property {bigint} [fingerprint]
 * @property {(value: T) => Uint8Array} encode
 */

/**
 * The half of a codec for subscriptions.
 * @template [T=unknown]
 * @typedef {object} Decoder
 * @property {(payload: Uint8Array, schema: bigint) => T} decode
 */

/**
 * An object that JSON can write: promises, maps, sets, blobs, errors, functions and the like would be `{}`.
 * @typedef {object & {readonly then?: never, readonly arrayBuffer?: never, readonly bind?: never, readonly [Symbol.toStringTag]?: never}} Plain
 *
 * Payload without a codec: text as UTF-8, bytes as they are, all else as JSON.
 * @typedef {Plain & ({readonly stack?: never} | {readonly name?: never})} NoError
 * @typedef {string | number | boolean | null | ArrayBuffer | ArrayBufferView | readonly unknown[] | {readonly [name: string]: unknown} | NoError} Payload
 *
 * @typedef {object} SendOptions
 * @property {string} [key] key for CONFLATE, at most 4,096 bytes
 * @property {Record<string, string>} [headers] for the application
 * @property {number} [publishedAt] microseconds since 1970; default now
 * @property {bigint} [schema] fingerprint of the payload's schema; default the codec's
 * @property {Encoder} [codec] writes the payload
 *
 * @typedef {object} PublishSignal
 * @property {AbortSignal} [signal] withdraws a call that waits for room, and stops waiting for the confirmation of an accepted event, which is
 *   published all the same
 *
 * Options of an event for a durable topic. A bus refuses them for another topic with NO_JOURNAL. Without durable topics at the bus the client refuses
 * them with UNSUPPORTED.
 * @typedef {object} DurableOptions
 * @property {number} [expected] position of the topic's last event, 0 if the topic has to be empty: else the bus refuses the event with
 *   EXPECTATION_FAILED
 * @property {number} [delay] ms for which the event waits in its journal before it is delivered, at most 3650 days
 * @property {number} [ttl] ms for which the event is delivered, at most 3650 days; default as long as its journal keeps it
 * @property {string} [producer] name by which the bus knows repetitions, whichever client publishes them and whenever: an event with a name and a
 *   `number` is stored once. The form of a topic, at most 63 bytes, without `/`; default the client itself, which is forgotten when its program ends
 * @property {number} [number] with `producer`: number of the event, 1 or more. Ascending for each name and topic, best without gaps: a number that was
 *   left out is refused later with SEQUENCE_GAP
 *
 * @typedef {SendOptions & DurableOptions & PublishSignal} PublishOptions
 *
 * @typedef {object} Published
 * @property {string} topic
 * @property {bigint} producer
 * @property {number} sequence
 * @property {number | undefined} receivers number of receivers it was queued for: subscriptions of the bus, and peers that have some; undefined where
 *   the bus does not tell
 * @property {number} position in its journal, from 1; 0 if the topic is not durable, if the event waits for its time, or if it was stored before and
 *   its position is not known
 * @property {boolean} repeated whether the event, or another one of its frame, was stored before: it is there once
 *
 * @typedef {object} WaitOptions
 * @property {number} [timeout] ms
 * @property {AbortSignal} [signal] stops waiting
 */

/**
 * Retry policy of a failed request, within its timeout: it is sent again where it was not executed, or where that is unknown and it is idempotent.
 * @typedef {object} Retry
 * @property {number} [attempts] maximum of tries in all; default 3
 * @property {number} [initialDelay] ms, default 50
 * @property {number} [maxDelay] ms, default 2,000
 * @property {number} [multiplier] default 2
 * @property {number} [jitter] maximum part of a pause that is left out at random, 0 to 1; default 0.5
 *
 * @typedef {object} RequestOnly
 * @property {string} [method] method of the service, for the member alone; at most 255 bytes
 * @property {number} [timeout] ms, 1 to 600,000; default 30,000. After it the request is not sent, and no handler starts with it
 * @property {number} [waitFor] ms of the timeout during which the bus waits for a member of a service without one; default 0: the request fails at
 *   once
 * @property {boolean} [idempotent] whether it may be executed more than once; only then is a request that may have been executed sent again
 * @property {Priority} [priority] default `NORMAL`
 * @property {bigint} [member] number of the only member to ask, from an earlier `Response`
 * @property {Retry | false} [retry] default: a refused request that was not executed is sent again after its retry-after time, as long as `timeout`
 *   allows; and an idempotent request as `Retry` says. False: never
 * @property {Decoder} [replyCodec] reads the reply for `response.value()`
 * @property {AbortSignal} [signal] cancels the request; it rejects with the signal's reason
 *
 * @typedef {SendOptions & RequestOnly} RequestOptions
 *
 * @typedef {object} ServeOptions
 * @property {number} [concurrency] maximum of requests that the handler works on at once, 1 to 65,536; default 16. The bus sends a few more ahead
 * @property {boolean} [identify] whether `invocation.identity` names the caller
 * @property {string} [version] of the serving software, for people; at most 255 bytes
 * @property {Record<string, string>} [metadata] for people and their tools, 4,096 bytes in all
 * @property {number} [rememberReplies] number of kept replies, so that a repeated request is not executed again; default 0. A request repeated while
 *   it is worked on gets that reply in any case
 * @property {number} [bufferBytes] maximum bytes of requests that wait for the handler, and as much again of kept replies; default 16 MiB. A request
 *   that does not fit is refused, and not executed
 * @property {Decoder} [codec] reads requests for `invocation.event.value()`
 * @property {AbortSignal} [signal] ends the service
 * @property {Encoder} [replyCodec] writes the result of the handler
 *
 * @callback RequestHandler
 * @param {import('./call/invocation.js').Invocation} invocation
 * @returns {unknown} the payload of the reply, a `Reply` with more, or a promise of one of them. Undefined is an empty payload
 *
 * @typedef {object} ServiceCounters
 * @property {number} received requests received
 * @property {number} answered requests answered by the handler
 * @property {number} failed requests failed or rejected by the handler
 * @property {number} expired requests whose timeout passed before the handler
 * @property {number} cancelled requests cancelled before the handler or in it
 * @property {number} refused requests refused because too much waited
 * @property {number} repeated repeated requests that got the reply of the first time
 * @property {number} running requests that the handler works on now
 * @property {number} waiting requests that wait for the handler now
 * @property {number} waitingBytes bytes of the waiting requests
 */

/**
 * Payload with a codec, or without one.
 * @template C
 * @typedef {C extends Encoder<infer T> ? T : Payload} PayloadFor
 */

/**
 * @template [T=unknown] what the codec reads
 * @typedef {object} SubscribeOptions
 * @property {string} [group] shares the events with all other subscriptions of this group
 * @property {Overflow} [overflow] default `BLOCK`, in a browser `DROP_OLDEST`
 * @property {number} [bufferBytes] maximum of waiting bytes, at least 1,024; default a quarter of `receiveBytes`. Above it `DROP_OLDEST`, `CONFLATE`
 *   and `DISCONNECT` act in the client, and under `BLOCK` `problem` reports that the others are stalled
 * @property {Decoder<T>} [codec] reads payloads for `event.value()`
 * @property {AbortSignal} [signal] ends the subscription
 * @property {(interruption: Interruption) => void | Promise<void>} [onInterruption] called where the subscription was interrupted: in order with the
 *   events, by a reader when it passes the place; later events wait for the promise
 * @property {(gap: Gap) => void | Promise<void>} [onGap] called where events are missing, as `onInterruption` is
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
 * @property {number} duplicates events received again and dropped
 * @property {number} missing events reported as gaps
 * @property {number} interruptions number of interruptions
 * @property {number} failed failures of handlers
 * @property {number} queued waiting events
 */

/**
 * First event for a consumer of durable topics: the oldest one that the journal has, the first one that is stored from then on, the last event of each
 * topic and then every event, the one at a position or the next one, or the first one that was stored at a time (a Date, or microseconds since 1970);
 * some that are a little older may come first.
 * @typedef {'FIRST' | 'NEW' | 'LATEST_VALUES' | {position: number} | {time: Date | number}} Start
 *
 * Reason why a consumer does not get events: `RETENTION`, the journal has removed its oldest events before; `PURGED`, an operator has removed them;
 * `EXPIRED`, they are past their time to live; `DAMAGED`, they cannot be read from any disk; `DELETED`, their journal was deleted, and one was created
 * again under its name: events that follow have the positions of the new one, where the consumer begins at its start.
 * @typedef {typeof import('./wire/names.js').TRUNCATED_REASONS[number]} TruncatedReason
 *
 * Events of durable topics that a consumer does not get.
 * @typedef {object} Truncated
 * @property {string} filter of the consumer
 * @property {number} from the first position
 * @property {number} to the last one; not every position between need have an event for the consumer
 * @property {TruncatedReason} reason
 *
 * @typedef {import('./durable/subscription.js').DurableSubscription | import('./durable/worker.js').Worker} DurableConsumer
 *
 * @typedef {object} TruncatedConsumer
 * @property {DurableConsumer} subscription
 */

/**
 * @template [T=unknown] what the codec reads
 * @typedef {object} ConsumeOptions
 * @property {string} [filter] the topics; default all of the journal
 * @property {string} [journal] not needed where a single journal has topics of the filter
 * @property {Start} [from] the first event, default `NEW`; of no meaning for a durable subscription that exists
 * @property {number} [bufferBytes] maximum of waiting bytes, 1,024 to 1 GiB; default 1 MiB. One message of the bus may wait beside them
 * @property {Decoder<T>} [codec] reads payloads for `event.value()`
 * @property {AbortSignal} [signal] ends the consumer
 * @property {(truncated: Truncated) => void | Promise<void>} [onTruncated] called where events do not come, in order with the events, by a reader when
 *   it passes the place; later events wait for the promise. After a failure it is called again, as a handler
 */

/**
 * @template [T=unknown] what the codec reads
 * @callback DurableHandler
 * @param {BusEvent<T>} event
 * @returns {void | Promise<void>} the event is handled when the promise resolves; the next one waits for it
 *
 * @typedef {object} DurableCounters
 * @property {number} received events handled
 * @property {number} duplicates events that came again and were dropped
 * @property {number} failed failures of the handler
 * @property {number} bufferedBytes bytes that wait now
 */

/**
 * @template [T=unknown] what the codec reads
 * @typedef {object} WorkerOptions
 * @property {string} [filter] the topics; default all of the journal
 * @property {string} [journal] not needed where a single journal has topics of the filter
 * @property {Exclude<Start, 'LATEST_VALUES'>} [from] the first event, default `NEW`; of no meaning for a durable subscription that exists
 * @property {number} [bufferBytes] maximum of bytes of events that wait or are not settled, 1,024 to 1 GiB; default 1 MiB. One message of the bus may
 *   come beside them
 * @property {Decoder<T>} [codec] reads payloads for `event.value()`
 * @property {AbortSignal} [signal] ends the worker
 * @property {(truncated: Truncated) => void | Promise<void>} [onTruncated] called at once when events do not come
 * @property {number} [maxUnsettled] maximum of events that this worker has and that are not settled, 1 to 1,024, default 256. Fewer spread the events
 *   better, more keep a fast handler busy
 * @property {number} [ackTimeout] ms after which the bus takes an event that is not settled for failed, and gives it to another consumer: 1,000 to
 *   43,200,000, default 30,000. It begins when the handler or the reader gets the event. An event that waits in this client for half of it goes back
 * @property {number} [maxAttempts] number of deliveries of an event that may fail, by an error, `retry`, the ack timeout or the loss of the consumer; then
 *   it is a dead letter. 1 to 1,000, default 10
 * @property {number} [concurrency] events that the handler works on at once, 1 to 1,000, default 1
 */

/**
 * @template [T=unknown] what the codec reads
 * @callback WorkHandler
 * @param {BusEvent<T>} event
 * @param {import('./durable/delivery.js').WorkDelivery} delivery settles the event, where returning is not enough
 * @returns {void | Promise<void>} the event is done when the promise resolves, unless it was settled before; it comes again when the promise rejects
 */

/**
 * @template [T=unknown] what the codec reads
 * @typedef {object} Work
 * @property {BusEvent<T>} event
 * @property {import('./durable/delivery.js').WorkDelivery} delivery settles the event
 */

/**
 * @typedef {object} WorkerCounters
 * @property {number} received events that the handler or the reader has got
 * @property {number} done events settled as done
 * @property {number} retried events settled to come again
 * @property {number} rejected events that were made dead letters
 * @property {number} late settlements that were dropped, because the connection of their event was gone
 * @property {number} failed failures of the handler
 * @property {number} bufferedBytes bytes of events that wait, or are not settled
 */

/**
 * An event as `JSON.stringify` writes it; 64-bit numbers as text.
 * @typedef {object} EventJson
 * @property {string} topic
 * @property {number} sequence
 * @property {number} position
 * @property {string} producer
 * @property {string} schema
 * @property {number} publishedAt
 * @property {number} receivedAt
 * @property {string | null} key
 * @property {Record<string, string>} headers
 * @property {string} payload
 */

/**
 * Figures of a client since it was made.
 * @typedef {object} Counters
 * @property {number} published events accepted for sending
 * @property {number} confirmed events that the bus confirmed
 * @property {number} resent events that were sent again after a reconnect
 * @property {number} droppedFull events refused because the outbound buffer was full
 * @property {number} indeterminate events without confirmation that were under way when a connection ended
 * @property {number} messagesSent WebSocket messages with events; published / messagesSent is the mean batch
 * @property {number} received events received, without duplicates, counted once for all subscriptions
 * @property {number} duplicates events received again and dropped
 * @property {number} missing events reported as gaps
 * @property {number} interruptions interruptions of subscriptions
 * @property {number} handlerFailures failures of handlers
 * @property {number} reconnects connections made after the first
 * @property {number} busChanges moves to another bus that the bus had requested
 * @property {number} unknownFrames skipped frames of unknown types
 * @property {number} publishedTopics topics published to
 * @property {number} bufferedBytes bytes of events that are not sent, or not confirmed
 * @property {number} unhandledBytes bytes received and not handled
 */

/**
 * @typedef {object} Gap
 * @property {string} topic
 * @property {bigint} producer
 * @property {number} from the first sequence that is missing
 * @property {number} to the last one
 * @property {GapReason} reason
 * @property {string} [filter] of the subscription whose own buffer had no room; left out where the gap concerns every subscription
 */

/**
 * A time during which a subscription was not in force: any of its events may be missing, of known or unknown topics. No gap reports the last ones
 * before the client was back, those of topics not seen before, and those that a group has lost.
 * @typedef {object} Interruption
 * @property {number} from time of the last receipt over the lost connection, in microseconds since 1970 by this machine's clock. Events published
 *   before that waited in the bus for a slow subscriber are lost with the connection, too
 * @property {number} to time at which a bus confirmed the subscription again
 *
 * @typedef {object} SubscriptionInterruption
 * @property {import('./subscription.js').Subscription} subscription
 * @property {string} filter
 *
 * @typedef {Interruption & SubscriptionInterruption} ClientInterruption
 */

/**
 * Events of `on`.
 * @typedef {object} ClientEvents
 * @property {ConnectionInfo} connected a bus has welcomed this client, the first time or again
 * @property {{code: number, reason: string, willReconnect: boolean}} disconnected a connection has ended; 1006 without a Close frame
 * @property {{attempt: number, url: string, delay: number}} reconnecting the next try begins in `delay` ms
 * @property {{before: ConnectionInfo, now: ConnectionInfo}} busChanged the client moved to another bus
 * @property {{url: string, why: string}} busChangeFailed the client stays at its bus
 * @property {Gap} gap events are missing; reported at once, while `onGap` of a subscription is called in order with the events
 * @property {ClientInterruption} interruption a subscription was interrupted; reported as soon as it is in force again
 * @property {{events: number, cause: 'CONNECTION_LOST' | 'CLOSED' | 'TOO_BIG'}} dropped accepted events of `send` are lost, or may be
 * @property {EventBusError} problem an error that no call has reported
 * @property {Truncated & TruncatedConsumer} truncated a consumer of durable topics does not get events; reported at once, while its `onTruncated` is
 *   called in order with the events. Without a listener and `onTruncated` it is reported as an error
 * @property {{error: unknown, event: BusEvent | null, subscription?: DurableConsumer}} handlerError a handler
 *   has failed; the event counts as handled, and is null of `onGap`, `onInterruption` and `onTruncated`. With `subscription`, a consumer of durable
 *   topics, it comes again
 * @property {{error: unknown, invocation: import('./call/invocation.js').Invocation}} requestFailed the handler of a service has failed; the caller
 *   learns only the name of the error's class
 * @property {{before: bigint, now: bigint}} producerChanged the bus knows this client by another number: events that were sent again may arrive twice
 * @property {{state: State, before: State}} state
 */

export {};
