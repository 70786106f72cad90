package io.eventbus.loadtest.attack;

import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.attack.wire.Wires;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Surroundings of an attack. For the thread of the attack. */
public final class Field {
  private final Wires wires;
  private final Map<String, Long> knobs;
  private final AttackTally tally;
  private final long end;

  /**
   * Creates one; the attack begins now.
   *
   * @param seconds how long it lasts
   */
  public Field(Wires wires, Map<String, Long> knobs, AttackTally tally, long seconds) {
    this.wires = wires;
    this.knobs = Map.copyOf(knobs);
    this.tally = tally;
    this.end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Returns what opens connections. */
  public Wires wires() {
    return wires;
  }

  /** Returns what is attacked. */
  public BusAddress bus() {
    return wires.bus();
  }

  /** Returns what it observes. */
  public AttackTally tally() {
    return tally;
  }

  /** Returns a setting. */
  public int knob(String name) {
    Long value = knobs.get(name);
    if (value == null) {
      throw new IllegalArgumentException("knob: " + name + " (expected: one of " + knobs + ")");
    }
    return Math.toIntExact(value);
  }

  /** Returns whether the time has passed. */
  public boolean over() {
    return leftMillis() <= 0;
  }

  /**
   * Returns how long it still lasts.
   *
   * @return 0 or less once it is over
   */
  public long leftMillis() {
    return TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
  }

  /**
   * Waits, but not beyond the end.
   *
   * @param millis how long
   * @throws InterruptedException if the thread is interrupted
   */
  public void sleep(long millis) throws InterruptedException {
    Thread.sleep(Math.max(0, Math.min(millis, leftMillis())));
  }

  /**
   * Waits until the attack is over.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void untilOver() throws InterruptedException {
    sleep(Long.MAX_VALUE);
  }
}
