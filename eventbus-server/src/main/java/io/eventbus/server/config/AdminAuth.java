package io.eventbus.server.config;

/** Condition under which operators have to log in. */
public enum AdminAuth {
  /** Log in if a token is set, or the administration port can be reached from other machines. */
  AUTO,
  /** Log in always. */
  REQUIRED
}
