package io.eventbus.server.config;

import org.jspecify.annotations.Nullable;

/**
 * Diagnostics, which have no place in production.
 *
 * @param echoPath path of an endpoint that sends every message back, or null for none
 * @param echoMessageBytes largest message of that endpoint
 */
public record DiagnosticsConfig(@Nullable String echoPath, int echoMessageBytes) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param echoPath path of an endpoint that sends every message back, or null for none
   * @param echoMessageBytes largest message of that endpoint
   * @throws IllegalArgumentException if a value is out of range
   */
  public DiagnosticsConfig {
    if (echoPath != null) {
      TextCheck.urlPath(ConfigKey.DIAGNOSTICS_ECHO_PATH, echoPath);
    }
    ConfigKey.DIAGNOSTICS_ECHO_MESSAGE_BYTES.inRange(echoMessageBytes);
  }
}
