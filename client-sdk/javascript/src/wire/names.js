/** Sub-protocol of the upgrade. */
export const SUBPROTOCOL = 'eventbus.v1.avro';

// Symbols by number. Unknown symbols of a newer bus count as the first one.
export const BUS_CODES = /** @type {const} */ ([
  'INTERNAL', 'UNKNOWN_TYPE', 'MALFORMED', 'TOO_BIG', 'ILLEGAL_TOPIC', 'ILLEGAL_FILTER', 'PROTOCOL_VIOLATION',
  'UNAUTHENTICATED', 'FORBIDDEN', 'UNSUPPORTED', 'LIMIT_EXCEEDED', 'DUPLICATE_SUBSCRIPTION', 'UNKNOWN_SUBSCRIPTION',
  'SLOW_CONSUMER', 'OVERLOADED', 'SHUTTING_DOWN', 'IDLE', 'REPLACED', 'SEQUENCE_GAP', 'EXPECTATION_FAILED', 'STORE_FULL', 'UNAVAILABLE', 'NO_JOURNAL',
]);

export const OVERFLOWS = /** @type {const} */ (['BLOCK', 'DROP_OLDEST', 'CONFLATE', 'DISCONNECT']);

export const GAP_REASONS = /** @type {const} */ (['UNKNOWN', 'QUEUE_FULL', 'CONFLATED']);

/** Reasons why a call has no reply. */
export const FAILURE_CODES = /** @type {const} */ ([
  'INTERNAL', 'NO_MEMBER', 'TIMEOUT', 'CANCELLED', 'OVERLOADED', 'MEMBER_LOST', 'FORBIDDEN', 'UNKNOWN_METHOD', 'TOO_BIG', 'REFUSED', 'FAILED', 'UNSUPPORTED',
]);

/** Answers to whether a member has begun with a call that has no reply. */
export const EXECUTIONS = /** @type {const} */ (['UNKNOWN', 'NO', 'YES']);

export const PRIORITIES = /** @type {const} */ (['NORMAL', 'HIGH', 'LOW']);

/** Sharing of a durable subscription between its consumers. */
export const CONSUME_MODES = /** @type {const} */ (['UNKNOWN', 'EXCLUSIVE', 'SHARED', 'KEY_SHARED']);

/** Outcomes of events of a shared subscription. */
export const SETTLE_OUTCOMES = /** @type {const} */ (['UNKNOWN', 'DONE', 'RETRY', 'REJECT', 'RELEASE', 'EXTEND']);

/** First events for a consumer. */
export const CONSUME_STARTS = /** @type {const} */ (['UNKNOWN', 'FIRST', 'NEW', 'LATEST_VALUES', 'POSITION', 'TIME']);

/** Reasons why a consumer does not get events. */
export const TRUNCATED_REASONS = /** @type {const} */ (['UNKNOWN', 'RETENTION', 'PURGED', 'EXPIRED', 'DAMAGED', 'DELETED']);

export const CHANGE_REASONS = /** @type {const} */ (['OVERLOAD', 'DRAIN', 'OPERATOR']);
