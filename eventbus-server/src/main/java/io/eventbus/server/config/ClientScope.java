package io.eventbus.server.config;

/** Clients that may do something at the expense of others. */
public enum ClientScope {
  /** Every client that may connect. */
  EVERYONE,
  /** Clients of the bus's own machine. */
  LOOPBACK,
  /** No client. */
  NOBODY
}
