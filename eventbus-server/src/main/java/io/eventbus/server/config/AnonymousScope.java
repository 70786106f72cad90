package io.eventbus.server.config;

/** Clients that are admitted without credentials. */
public enum AnonymousScope {
  /** None if there is a way to authenticate, else those of the bus's machine. */
  AUTO,
  /** All. */
  EVERYONE,
  /** Those of the bus's machine. */
  LOOPBACK,
  /** None. */
  NOBODY
}
