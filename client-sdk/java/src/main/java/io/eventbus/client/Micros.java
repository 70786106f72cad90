package io.eventbus.client;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Microseconds since the epoch, the protocol's unit of time. */
final class Micros {
  private Micros() {}

  static long of(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  static Instant toInstant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000L);
  }
}
