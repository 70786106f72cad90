package io.eventbus.server.session;

import io.eventbus.schema.Limits;
import io.eventbus.server.config.LimitsConfig;

/** Limits in the form of {@code Welcome}. */
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
