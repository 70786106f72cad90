package io.eventbus.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * A bus that has to get rid of its clients on a machine that can do little: the more clients move
 * together, the longer each of them takes.
 */
class SlowDrainTest {
  private static final Quiet QUIET = new Quiet();
  private static final int CLIENTS = 1_000;

  private final LoadedCluster cluster = new LoadedCluster(1, 3);

  @AfterAll
  static void loud() {
    QUIET.close();
  }

  /** Returns the seconds until the last client is gone. */
  private long drain() {
    Simulator simulator = cluster.simulator();
    cluster.connect(0, CLIENTS, 0.3);
    cluster.start();
    simulator.run(5 * Simulator.SECOND);
    cluster.bus(0).drain();
    long begun = simulator.now();
    simulator.runUntil(
        () -> cluster.bus(0).size() == 0, 100 * Simulator.MILLI, 300 * Simulator.SECOND);
    assertThat(cluster.bus(0).size()).isZero();
    assertThat(cluster.bus(0).status().stayed()).isZero();
    return (simulator.now() - begun) / Simulator.SECOND;
  }

  @Test
  void onAQuickMachineClientsGoAtThePaceThatIsSet() {
    assertThat(drain()).isBetween(4L, 6L);
    assertThat(cluster.mostChanging()).isLessThanOrEqualTo(20);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  /** At the pace that is set, and without a bound, all of them would be under way together. */
  @Test
  void onASlowOneNoMoreAreUnderWayThanAreDoneInTime() {
    cluster.changesTake(underWay -> underWay * 50 * Simulator.MILLI);
    assertThat(drain()).isLessThan(60);
    // Each takes no more than a quarter of its time, or but a little.
    assertThat(cluster.mostChanging()).isLessThanOrEqualTo(55);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  @Test
  void clientsThatTakeVeryLongAreWaitedFor() {
    cluster.changesTake(underWay -> 5 * Simulator.SECOND + underWay * 50 * Simulator.MILLI);
    Simulator simulator = cluster.simulator();
    cluster.connect(0, 50, 0.3);
    cluster.start();
    simulator.run(5 * Simulator.SECOND);
    cluster.bus(0).drain();
    simulator.runUntil(
        () -> cluster.bus(0).size() == 0, 100 * Simulator.MILLI, 120 * Simulator.SECOND);
    assertThat(cluster.bus(0).size()).isZero();
    assertThat(cluster.bus(0).status().expired()).isZero();
  }
}
