package io.eventbus.loadtest.faults.run;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Kind of fault. */
public enum FaultKind {
  /** SIGKILL of a bus, which is started again. */
  KILL(Need.NOTHING),
  /** SIGKILL of the bus that leads the replicas, which is started again. */
  KILL_LEADER(Need.NOTHING),
  /** SIGKILL of all buses, which are started again. */
  KILL_ALL(Need.NOTHING),
  /** SIGSTOP of a bus for a time, of the leader in half of the cases. */
  PAUSE(Need.NOTHING),
  /** Writes to the disks of one bus wait for a time, and so does each fsync. */
  SLOW_FSYNC(Need.DISKS),
  /** The disk of one bus is full for a time, or those of all. */
  FULL_DISK(Need.DISKS),
  /** Loss of the power of a bus, with everything that was not synced. */
  POWER_LOSS(Need.DISKS),
  /** Loss of the power of all buses at once. */
  POWER_LOSS_ALL(Need.DISKS),
  /** Loss of all packets between a bus and the others for a time, in one direction or both. */
  PARTITION(Need.NETWORK),
  /** Move of all clients of a bus to the others for a time, during which it takes none. */
  DRAIN(Need.OTHERS),
  /** Failure of each write and fsync of a bus, whose disk is good again when it is killed. */
  FAILING_FSYNC(Need.FAILING_DISKS),
  /** Change of a bit in the files of a bus that was stopped, which is started again. */
  BIT_FLIP(Need.NOTHING);

  /** Condition of a kind of fault. */
  public enum Need {
    /** A bus. */
    NOTHING,
    /** A file system for each bus, which needs root. */
    DISKS,
    /** The same in memory, so that it can fail. */
    FAILING_DISKS,
    /** Other buses. */
    OTHERS,
    /** Other buses, in a network of their own, which needs root. */
    NETWORK
  }

  private final Need need;

  FaultKind(Need need) {
    this.need = need;
  }

  /** Returns its condition. */
  public Need need() {
    return need;
  }

  /** Returns whether it ends the lives of its buses: what they had is lost at once. */
  boolean endsLives() {
    return switch (this) {
      case KILL, KILL_LEADER, KILL_ALL, POWER_LOSS, POWER_LOSS_ALL -> true;
      case PAUSE, SLOW_FSYNC, FULL_DISK, PARTITION, DRAIN, FAILING_FSYNC, BIT_FLIP -> false;
    };
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
