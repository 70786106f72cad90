package io.eventbus.server.config;

/** Which clients are let in without credentials. */
public enum AnonymousScope {
  /** None where there is a way to authenticate, else those of the bus's machine. */
  AUTO,
  /** All. */
  EVERYONE,
  /** Those of the bus's machine. */
  LOOPBACK,
  /** None. */
  NOBODY
}
