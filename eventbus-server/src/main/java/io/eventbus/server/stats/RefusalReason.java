package io.eventbus.server.stats;

/** Reason why a connection was refused before it could send anything. */
public enum RefusalReason {
  /** Maximum of connections by {@code listen.max-connections}. */
  MAX_CONNECTIONS,
  /** Maximum of connections by the process's limit of open files. */
  DESCRIPTORS,
  /** Maximum of connections by the heap. */
  HEAP,
  /** Maximum of connections of one address by {@code limits.address-connections}. */
  ADDRESS_CONNECTIONS,
  /** Maximum of unfinished handshakes of one address by {@code limits.address-handshakes}. */
  ADDRESS_HANDSHAKES,
  /** Maximum rate of new connections of one address by {@code limits.address-handshake-rate}. */
  ADDRESS_HANDSHAKE_RATE,
  /** The threads for TLS handshakes have too much to do. */
  TLS_BUSY
}
