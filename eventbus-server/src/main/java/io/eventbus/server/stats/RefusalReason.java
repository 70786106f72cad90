package io.eventbus.server.stats;

/** Why a connection was refused before it could say anything. */
public enum RefusalReason {
  /** As many connections as {@code listen.max-connections} allows. */
  MAX_CONNECTIONS,
  /** As many connections as the process's limit of open files allows. */
  DESCRIPTORS,
  /** As many connections as the heap has room for. */
  HEAP,
  /** As many connections of one address as {@code limits.address-connections} allows. */
  ADDRESS_CONNECTIONS,
  /** As many unfinished handshakes of one address as {@code limits.address-handshakes} allows. */
  ADDRESS_HANDSHAKES,
  /** More new connections of one address than {@code limits.address-handshake-rate} allows. */
  ADDRESS_HANDSHAKE_RATE,
  /** The threads for TLS handshakes have too much to do. */
  TLS_BUSY
}
