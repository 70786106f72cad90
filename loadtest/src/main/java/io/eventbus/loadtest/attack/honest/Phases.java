package io.eventbus.loadtest.attack.honest;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/**
 * Puts each event into the phase to which its latency belongs: the quiet one, the attack, or the
 * recovery. Any thread.
 *
 * <p>An event that was due before the attack and came after its begin was held up by the attack;
 * one that was due during the attack belongs to it whenever it comes.
 */
public final class Phases {
  private static final long MAX_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int DIGITS = 3;

  private final Histogram quiet = new SynchronizedHistogram(MAX_NANOS, DIGITS);
  private final Histogram attack = new SynchronizedHistogram(MAX_NANOS, DIGITS);
  private final Histogram after = new SynchronizedHistogram(MAX_NANOS, DIGITS);
  private volatile long quietFrom = Long.MAX_VALUE;
  private volatile long attackFrom = Long.MAX_VALUE;
  private volatile long attackTo = Long.MAX_VALUE;
  private volatile long end = Long.MAX_VALUE;

  /** Creates one for which nothing counts yet. */
  public Phases() {}

  /**
   * Begins the quiet phase.
   *
   * @param now nanoseconds since any origin, the same one for all calls
   */
  public void quiet(long now) {
    quietFrom = now;
  }

  /**
   * Begins the attack.
   *
   * @param now nanoseconds
   */
  public void attack(long now) {
    attackFrom = now;
  }

  /**
   * Ends the attack.
   *
   * @param now nanoseconds
   */
  public void recovery(long now) {
    attackTo = now;
  }

  /**
   * Ends the measurement: what is due later does not count.
   *
   * @param now nanoseconds
   */
  public void end(long now) {
    end = now;
  }

  void record(long due, long received) {
    if (due < quietFrom || due >= end) {
      return;
    }
    Histogram phase = received < attackFrom ? quiet : due < attackTo ? attack : after;
    phase.recordValue(Math.min(Math.max(0, received - due), MAX_NANOS));
  }

  Latency quietLatency() {
    return Latency.of(quiet);
  }

  Latency attackLatency() {
    return Latency.of(attack);
  }

  Latency afterLatency() {
    return Latency.of(after);
  }
}
