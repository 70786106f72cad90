package io.eventbus.server.config;

/** Which clients may do something that others may have to pay for. */
public enum ClientScope {
  /** Every client that may connect. */
  EVERYONE,
  /** Clients of the bus's own machine. */
  LOOPBACK,
  /** No client. */
  NOBODY
}
