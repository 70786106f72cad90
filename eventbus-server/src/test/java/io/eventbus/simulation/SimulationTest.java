package io.eventbus.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.subscription.Routes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Experiments in small; {@link SimulationTable} is the large form. */
class SimulationTest {
  private static final Quiet QUIET = new Quiet();
  private static final int BUSES = Integer.getInteger("eventbus.simulation.buses", 24);
  private static final long CUT = 40 * Simulator.SECOND;

  @AfterAll
  static void loud() {
    QUIET.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void twoSidesKnowWhoIsThereAndBecomeWholeAgain(long seed) {
    SplitAndHeal.Outcome o = SplitAndHeal.run(seed, BUSES, BUSES / 4, CUT);
    assertThat(o.missed()).as("%s", o).isEmpty();
  }

  @Test
  void aSeedTellsTheWholeStory() {
    SplitAndHeal.Outcome one = SplitAndHeal.run(7, 8, 2, CUT);
    assertThat(SplitAndHeal.run(7, 8, 2, CUT)).isEqualTo(one);
    assertThat(SplitAndHeal.run(8, 8, 2, CUT).fingerprint()).isNotEqualTo(one.fingerprint());
    Forwarding.Outcome trees = Forwarding.run(7, 12, 2, 3, 2, 10, 1);
    assertThat(Forwarding.run(7, 12, 2, 3, 2, 10, 1)).isEqualTo(trees);
    HotSpot.Outcome spread = HotSpot.run(7, 6, 200, 1.3);
    assertThat(HotSpot.run(7, 6, 200, 1.3)).isEqualTo(spread);
    assertThat(HotSpot.run(8, 6, 200, 1.3).fingerprint()).isNotEqualTo(spread.fingerprint());
  }

  @Test
  void lostInterestIsRequestedAgain() {
    SimulatedCluster cluster = new SimulatedCluster(1, 3, SimulatedCluster.defaults());
    cluster.start();
    cluster.simulator.run(5 * Simulator.SECOND);
    SimulatedBus a = cluster.buses.get(0);
    SimulatedBus b = cluster.buses.get(1);
    cluster.network.lose(
        (from, to, message) ->
            from == 0
                && to == 1
                && message.length > 0
                && message[0] == (byte) (PeerFrames.INTEREST << 1));
    a.subscribe("lost");
    cluster.simulator.run(Simulator.SECOND);
    cluster.network.lose((from, to, message) -> false);
    assertThat(Routes.remote(b.index, "lost")).as("that something was lost").isEmpty();
    a.subscribe("next");
    cluster.simulator.run(Simulator.SECOND);
    assertThat(Routes.remote(b.index, "lost")).containsExactly("bus " + a.name());
    assertThat(Routes.remote(b.index, "next")).containsExactly("bus " + a.name());
    assertThat(b.federation.figures().mismatches()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "2, 3", "3, 8", "4, 1000"})
  void eachBusGetsEachEventOnceInAnyTree(long seed, int fanout) {
    Forwarding.Outcome o = Forwarding.run(seed, BUSES, fanout, 5, 3, 20, 0);
    assertThat(o.missed()).as("%s", o).isEmpty();
    assertThat(o.once()).as("%s", o).isEqualTo(o.targets()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "2, 3", "3, 8"})
  void busesBehindADeadBusAreReached(long seed, int fanout) {
    Forwarding.Outcome o = Forwarding.run(seed, BUSES, fanout, 5, 3, 40, 3);
    assertThat(o.missed()).as("%s", o).isEmpty();
    assertThat(o.twice()).as("that something was under way: %s", o).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"1, 1.0", "2, 2.0", "3, 0.9", "4, 5.0"})
  void aHotSpotSpreadsOut(long seed, double asked) {
    HotSpot.Outcome o = HotSpot.run(seed, BUSES, 1_000, asked);
    assertThat(o.missed()).as("%s", o).isEmpty();
    assertThat(o.moves()).as("%s", o).isPositive();
  }

  @ParameterizedTest
  @EnumSource(HalfAnHour.Kind.class)
  void inHalfAnHourClientsComeToRest(HalfAnHour.Kind kind) {
    int buses = kind == HalfAnHour.Kind.TWO_OVERLOADED ? 2 : 8;
    HalfAnHour.Outcome o = HalfAnHour.run(5, buses, kind);
    assertThat(o.missed()).as("%s", o).isEmpty();
    assertThat(o.turns()).as("%s", o).isPositive();
  }
}
