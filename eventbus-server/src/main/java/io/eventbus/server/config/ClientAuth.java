package io.eventbus.server.config;

/** Whether clients are asked for a certificate. */
public enum ClientAuth {
  /** No. */
  NONE,
  /** They are asked, and may have none. */
  OPTIONAL,
  /** They have to have one. */
  REQUIRED
}
