package io.eventbus.server.session;

import io.eventbus.schema.Limits;
import io.eventbus.server.config.LimitsConfig;

/** The limits as {@code Welcome} tells them. */
final class WireLimits {
  private WireLimits() {}

  static Limits of(LimitsConfig limits) {
    return new Limits(
        limits.payloadBytes(),
        limits.messageBytes(),
        limits.headers(),
        limits.headerBytes(),
        limits.subscriptions(),
        limits.queueBytes());
  }
}
