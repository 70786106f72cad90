package io.eventbus.client;

/** Reason of a refusal by a bus: the codes of the protocol's {@code Problem}. */
public enum ErrorCode {
  /** The bus met an unexpected condition, or the code is newer than this SDK. */
  INTERNAL,
  /** The bus does not know this type of frame. */
  UNKNOWN_TYPE,
  /** The bytes are not a legal frame. */
  MALFORMED,
  /** A part exceeds its limit. */
  TOO_BIG,
  /** The topic breaks the rules. */
  ILLEGAL_TOPIC,
  /** The filter breaks the rules. */
  ILLEGAL_FILTER,
  /** The frame may not come at this point. */
  PROTOCOL_VIOLATION,
  /** The credentials are missing, wrong or expired. */
  UNAUTHENTICATED,
  /** The client lacks the permission. */
  FORBIDDEN,
  /** The bus does not support this. */
  UNSUPPORTED,
  /** The client has reached its maximum of these. */
  LIMIT_EXCEEDED,
  /** The id of the subscription is in use. */
  DUPLICATE_SUBSCRIPTION,
  /** There is no such subscription. */
  UNKNOWN_SUBSCRIPTION,
  /** The client did not read fast enough. */
  SLOW_CONSUMER,
  /** The bus has no room. */
  OVERLOADED,
  /** The bus shuts down. */
  SHUTTING_DOWN,
  /** Nothing was received within the bus's time-out. */
  IDLE,
  /** Another connection has taken this session, or this durable subscription, over. */
  REPLACED,
  /** The journal does not know any more whether it has stored these events. Do not retry. */
  SEQUENCE_GAP,
  /** The topic's last event is not the one that {@link PublishOptions#expected} states. */
  EXPECTATION_FAILED,
  /** The journal has no room. Retry after a pause. */
  STORE_FULL,
  /**
   * The journal cannot answer now. Events may have been stored all the same. Retry after a pause.
   */
  UNAVAILABLE,
  /** No journal has this name, or has this topic. */
  NO_JOURNAL
}
