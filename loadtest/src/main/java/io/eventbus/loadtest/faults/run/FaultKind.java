package io.eventbus.loadtest.faults.run;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Kind of fault. */
public enum FaultKind {
  /** SIGKILL of a bus, which is started again. */
  KILL(false),
  /** SIGKILL of the bus that leads the replicas, which is started again. */
  KILL_LEADER(false),
  /** SIGKILL of all buses, which are started again. */
  KILL_ALL(false),
  /** SIGSTOP of a bus for a time, of the leader in half of the cases. */
  PAUSE(false),
  /** Writes to the disks of one bus wait for a time, and so does each fsync. */
  SLOW_FSYNC(true),
  /** The disk of one bus is full for a time, or those of all. */
  FULL_DISK(true),
  /** Loss of the power of a bus, with everything that was not synced. */
  POWER_LOSS(true),
  /** Loss of the power of all buses at once. */
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
