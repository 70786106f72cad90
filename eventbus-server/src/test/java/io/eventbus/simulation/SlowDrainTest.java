package io.eventbus.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * Bus that has to get rid of its clients on a slow machine: the more clients move together, the
 * longer each of them takes.
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
    return drain(SimulatedClient.Manner.GOES);
  }

  private long drain(SimulatedClient.Manner manner) {
    Simulator simulator = cluster.simulator();
    cluster.connect(0, CLIENTS, 0.3);
    cluster.clients().forEach(client -> client.manner(manner));
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
    assertThat(cluster.maxChanging()).isLessThanOrEqualTo(20);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  /** At the configured rate, and without a bound, all moves would be in progress together. */
  @Test
  void onASlowOneNoMoreAreUnderWayThanAreDoneInTime() {
    cluster.changesTake(underWay -> underWay * 50 * Simulator.MILLI);
    assertThat(drain()).isLessThan(60);
    // More would only wait for each other.
    assertThat(cluster.maxChanging()).isLessThanOrEqualTo(45);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  /**
   * Each step waits for its turn, however few are in progress: few at a time would take minutes.
   */
  @Test
  void onOneThatMakesEachWaitMoreAreUnderWay() {
    cluster.changesTake(underWay -> 3 * Simulator.SECOND + underWay * 5 * Simulator.MILLI);
    assertThat(drain()).isLessThan(40);
    assertThat(cluster.maxChanging()).isGreaterThan(100);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  /** They move at once when they have read the request: many moves can be in progress. */
  @Test
  void aLateReadDoesNotCountAsASlowMove() {
    assertThat(drain(SimulatedClient.Manner.READS_LATE)).isLessThan(100);
    assertThat(cluster.bus(0).status().expired()).isZero();
  }

  /** No client has moved yet, and nothing is known of the machine. */
  @Test
  void theFirstOnesAreWaitedFor() {
    cluster.changesTake(underWay -> 4 * Simulator.SECOND);
    Simulator simulator = cluster.simulator();
    cluster.connect(0, CLIENTS, 0.3);
    cluster.start();
    simulator.run(5 * Simulator.SECOND);
    cluster.bus(0).drain();
    simulator.run(3_900 * Simulator.MILLI);
    assertThat(cluster.maxChanging()).isEqualTo(10);
  }

  /** Returns a bus that has found that it is overloaded, a time ago. */
  private LoadedBus overload(long changeTakes, long nanos) {
    cluster.changesTake(underWay -> changeTakes);
    cluster.connect(0, CLIENTS, 1);
    cluster.start();
    LoadedBus bus = cluster.bus(0);
    cluster.simulator().runUntil(bus::isOverloaded, 100 * Simulator.MILLI, 30 * Simulator.SECOND);
    assertThat(bus.isOverloaded()).isTrue();
    cluster.simulator().run(nanos);
    return bus;
  }

  @Test
  void ofAnOverloadedBusTheFirstOnesAreWaitedForToo() {
    overload(4 * Simulator.SECOND, 3_500 * Simulator.MILLI);
    assertThat(cluster.maxChanging()).isEqualTo(10);
  }

  /** A token holds for twice the deadline. */
  @Test
  void anExpiredTokenIsNotSent() {
    LoadedBus bus = overload(8 * Simulator.SECOND, 60 * Simulator.SECOND);
    assertThat(cluster.moves()).isPositive();
    assertThat(bus.status().stayed()).isZero();
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

  /** Returns a client of that manner after so much of a drain. */
  private SimulatedClient drainOne(SimulatedClient.Manner manner, long seconds) {
    cluster.connect(0, 1, 0.3);
    cluster.start();
    Simulator simulator = cluster.simulator();
    simulator.run(5 * Simulator.SECOND);
    SimulatedClient client = cluster.clients().get(0);
    client.manner(manner);
    cluster.bus(0).drain();
    simulator.run(seconds * Simulator.SECOND);
    return client;
  }

  @Test
  void aStayingClientIsAskedAgainWithBackoff() {
    List<Long> asked = drainOne(SimulatedClient.Manner.STAYS, 70).asked();
    List<Long> pauses = new ArrayList<>();
    for (int i = 1; i < asked.size(); i++) {
      // Clients that may be asked again are checked every 20 ms.
      pauses.add((asked.get(i) - asked.get(i - 1)) / (Simulator.SECOND / 4) / 4);
    }
    assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 16L, 16L, 16L);
    assertThat(cluster.bus(0).status().stayed()).isEqualTo(8);
  }

  @Test
  void anIdleMoverIsClosedAtItsDeadline() {
    drainOne(SimulatedClient.Manner.IGNORES, 10);
    assertThat(cluster.bus(0).status().expired()).isZero();
    cluster.simulator().run(Simulator.SECOND);
    assertThat(cluster.bus(0).status().expired()).isEqualTo(1);
    assertThat(cluster.bus(0).size()).isZero();
  }

  @Test
  void whileTheMachineStandsStillNobodysTimePasses() {
    drainOne(SimulatedClient.Manner.IGNORES, 5);
    cluster.simulator().standStill(8 * Simulator.SECOND);
    cluster.simulator().run(4_500 * Simulator.MILLI);
    assertThat(cluster.bus(0).status().expired()).isZero();
    cluster.simulator().run(1_500 * Simulator.MILLI);
    assertThat(cluster.bus(0).status().expired()).isEqualTo(1);
  }

  @Test
  void aClientThatHasNotReadTheRequestHasMoreTime() {
    drainOne(SimulatedClient.Manner.READS_NOTHING, 59);
    assertThat(cluster.bus(0).status().expired()).isZero();
    cluster.simulator().run(2 * Simulator.SECOND);
    assertThat(cluster.bus(0).status().expired()).isEqualTo(1);
  }

  @Test
  void progressExtendsTheDeadlineButNotForEver() {
    drainOne(SimulatedClient.Manner.DAWDLES, 60);
    assertThat(cluster.bus(0).status().expired()).isZero();
    cluster.simulator().run(10 * Simulator.SECOND);
    assertThat(cluster.bus(0).status().expired()).isEqualTo(1);
  }
}
