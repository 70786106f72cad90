package io.eventbus.client;

/** Why a bus refused something: the codes of the protocol's {@code Problem}. */
public enum ErrorCode {
  /**
   * The bus met a condition that it did not expect, or the code is one that this SDK is too old
   * for.
   */
  INTERNAL,
  /** The bus does not know this type of frame. */
  UNKNOWN_TYPE,
  /** The bytes are not a legal frame. */
  MALFORMED,
  /** A part is over its limit. */
  TOO_BIG,
  /** The topic breaks the rules. */
  ILLEGAL_TOPIC,
  /** The filter breaks the rules. */
  ILLEGAL_FILTER,
  /** A frame that may not come at this point. */
  PROTOCOL_VIOLATION,
  /** No credentials, or wrong ones; or they have expired. */
  UNAUTHENTICATED,
  /** The client may not do this. */
  FORBIDDEN,
  /** The bus does not do this. */
  UNSUPPORTED,
  /** The client has as many of these as it may have. */
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
  /** No sign of life within the bus's time-out. */
  IDLE,
  /** Another connection has taken this session over. */
  REPLACED
}
