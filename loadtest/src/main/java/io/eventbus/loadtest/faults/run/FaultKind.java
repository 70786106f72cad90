package io.eventbus.loadtest.faults.run;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Kind of fault. */
public enum FaultKind {
  /** One bus is killed, and started again. */
  KILL(false),
  /** The bus that leads the replicas is killed, and started again. */
  KILL_LEADER(false),
  /** All buses are killed, and started again. */
  KILL_ALL(false),
  /** One bus stands still for a time, the leader in half of the cases. */
  PAUSE(false),
  /** Writes to the disks of one bus wait for a time, and so does each fsync. */
  SLOW_FSYNC(true),
  /** The disk of one bus is full for a time, or those of all. */
  FULL_DISK(true),
  /** One bus loses its power: what was not synced is gone. */
  POWER_LOSS(true),
  /** All buses lose their power at once. */
  POWER_LOSS_ALL(true);

  private final boolean disk;

  FaultKind(boolean disk) {
    this.disk = disk;
  }

  /** Returns whether it needs a file system for each bus. */
  public boolean needsDisk() {
    return disk;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the kind of a name.
   *
   * @throws IllegalArgumentException if there is none, naming those that there are
   */
  public static FaultKind of(String name) {
    return Arrays.stream(values())
        .filter(kind -> kind.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("--faults: " + name + " (expected: " + all() + ")"));
  }

  private static String all() {
    return Arrays.stream(values()).map(FaultKind::toString).collect(Collectors.joining(", "));
  }
}
