package io.eventbus.server.config;

/** When operators have to say who they are. */
public enum AdminAuth {
  /** Where a token is set, or the administration port can be reached from other machines. */
  AUTO,
  /** Always. */
  REQUIRED
}
