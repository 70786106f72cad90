/** The sub-protocol that is asked for in the upgrade. */
export const SUBPROTOCOL = 'eventbus.v1.avro';

/** Type codes of frames. */
export const TYPE = /** @type {const} */ ({
  HELLO: 0,
  PUBLISH: 1,
  SUBSCRIBE: 2,
  CHANGE_BUS: 3,
  DELIVER: 4,
  UNSUBSCRIBE: 6,
  WELCOME: 7,
  PROBLEM: 8,
  CONFIRM: 9,
  GAP: 10,
  BARRIER: 11,
  DRAINED: 12,
  CHANGE_BUS_FAILED: 13,
  CREDIT: 28,
  AUTHENTICATE: 32,
  ECHO: 33,
});

// Symbols by number. Only a newer bus has others: they count as the first one.
export const BUS_CODES = /** @type {const} */ ([
  'INTERNAL', 'UNKNOWN_TYPE', 'MALFORMED', 'TOO_BIG', 'ILLEGAL_TOPIC', 'ILLEGAL_FILTER', 'PROTOCOL_VIOLATION',
  'UNAUTHENTICATED', 'FORBIDDEN', 'UNSUPPORTED', 'LIMIT_EXCEEDED', 'DUPLICATE_SUBSCRIPTION', 'UNKNOWN_SUBSCRIPTION',
  'SLOW_CONSUMER', 'OVERLOADED', 'SHUTTING_DOWN', 'IDLE', 'REPLACED',
]);

export const OVERFLOWS = /** @type {const} */ (['BLOCK', 'DROP_OLDEST', 'CONFLATE', 'DISCONNECT']);

export const GAP_REASONS = /** @type {const} */ (['UNKNOWN', 'QUEUE_FULL', 'CONFLATED']);

export const CHANGE_REASONS = /** @type {const} */ (['OVERLOAD', 'DRAIN', 'OPERATOR']);

/** Limits of the protocol that no bus tells. */
export const LIMIT = /** @type {const} */ ({
  keyBytes: 4096,
  publishEvents: 65_536,
  nameBytes: 255,
  tokenBytes: 16_384,
  attributes: 64,
  attributeBytes: 1024,
  // What a delivery has around the events that a publisher sent.
  aroundEvents: 128 * 1024,
  // Of a message before the bus has said how large they may be.
  firstMessageBytes: 64 * 1024 * 1024,
});
