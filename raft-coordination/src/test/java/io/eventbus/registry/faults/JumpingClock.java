package io.eventbus.registry.faults;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The system's clock with an offset that the test sets. */
final class JumpingClock extends Clock {
  private volatile Duration offset = Duration.ZERO;

  void jump(Duration by) {
    offset = by;
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return Clock.offset(Clock.system(zone), offset);
  }

  @Override
  public Instant instant() {
    return Clock.systemUTC().instant().plus(offset);
  }
}
