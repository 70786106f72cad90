package io.eventbus.server.config;

/** Request for certificates of clients. */
public enum ClientAuth {
  /** Clients are not asked. */
  NONE,
  /** Clients are asked, and may have none. */
  OPTIONAL,
  /** Clients must have one. */
  REQUIRED
}
