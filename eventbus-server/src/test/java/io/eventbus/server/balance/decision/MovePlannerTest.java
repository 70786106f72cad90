package io.eventbus.server.balance.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MovePlannerTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final int CLIENTS = 2_000;

  private MovePlanner planner = planner(200);
  private final List<ClientLoad> clients = new ArrayList<>();
  private final List<MoveTarget> buses = new ArrayList<>();
  private int looks;
  private long now;

  private static MovePlanner planner(int movesPerSecond) {
    return new MovePlanner(
        new MovePlanner.Settings(
            0.85,
            0.7,
            Duration.ofSeconds(2),
            Duration.ofSeconds(2),
            movesPerSecond,
            Duration.ofSeconds(2)),
        "zone",
        new SplittableRandom(1));
  }

  private void clients(double load, int ofTopic) {
    for (int i = 0; i < CLIENTS; i++) {
      Set<String> topics = i < ofTopic ? Set.of("together") : Set.of();
      clients.add(new ClientLoad(i, i, load / CLIENTS, topics, 0, true));
    }
  }

  private void buses(int count, double load) {
    for (int i = 0; i < count; i++) {
      buses.add(new MoveTarget("bus-" + i, "zone", load));
    }
  }

  private List<MovePlanner.Plan> relieve(double smoothed, double recent, double underWay) {
    return planner.relieve(
        new MovePlanner.Fullness(smoothed, recent, underWay),
        () -> {
          looks++;
          return clients;
        },
        buses,
        now);
  }

  private void overloaded(double load) {
    assertThat(relieve(load, load, 0)).isEmpty();
    now += 2 * SECOND;
  }

  private static int moves(List<MovePlanner.Plan> plans) {
    return plans.stream().mapToInt(plan -> plan.clients().size()).sum();
  }

  @Test
  void theMoreThereIsTooMuchTheMoreGoTogether() {
    clients(1, 0);
    buses(20, 0.3);
    overloaded(0.86);
    assertThat(moves(relieve(0.86, 0.85, 0))).isEqualTo(100);
    now += SECOND;
    assertThat(moves(relieve(0.9, 0.9, 0))).isBetween(199, 200);
    now += SECOND;
    assertThat(moves(relieve(1, 1, 0))).isEqualTo(400);
    assertThat(moves(relieve(3, 3, 0))).as("and no more than four times as many").isEqualTo(400);
  }

  @Test
  void theyAreSpreadOverSeveralBusesAndNobodyIsAskedTwice() {
    clients(1, 0);
    buses(20, 0.3);
    overloaded(1);
    List<MovePlanner.Plan> plans = relieve(1, 1, 0);
    assertThat(plans).hasSize(8).allMatch(plan -> plan.clients().size() <= 51);
    assertThat(plans.stream().map(plan -> plan.target().bus())).doesNotHaveDuplicates();
    assertThat(plans.stream().flatMap(plan -> plan.clients().stream()).map(ClientLoad::connection))
        .doesNotHaveDuplicates();
    assertThat(looks).isEqualTo(1);
  }

  @Test
  void noMoreThanWhatHasToGo() {
    clients(0.7, 0);
    buses(20, 0.3);
    overloaded(1);
    List<MovePlanner.Plan> plans = relieve(1, 0.7, 0.03);
    plans.forEach(plan -> planner.granted(plan, plan.clients().size(), now));
    double before = plans.stream().mapToDouble(MovePlanner.Plan::load).sum();
    assertThat(before).as("until the smoothed load is where it is to be").isPositive();
    now += SECOND / 10;
    double departed = before * Math.exp(-0.05);
    assertThat(relieve(0.665 + departed - 0.01, 0.665, 0)).isEmpty();
  }

  /** A fully loaded bus sees no difference when clients go. */
  @Test
  void departuresDoNotCountWhileTheBusStaysFull() {
    clients(1, 0);
    buses(20, 0.3);
    overloaded(1);
    for (int i = 0; i < 5; i++) {
      List<MovePlanner.Plan> plans = relieve(1, 1, 0);
      assertThat(moves(plans)).isGreaterThan(200);
      plans.forEach(plan -> planner.granted(plan, plan.clients().size(), now));
      now += SECOND / 2;
    }
  }

  @Test
  void aMovingClientIsNotRequestedAgain() {
    clients(1, 0);
    buses(20, 0.3);
    overloaded(1);
    List<MovePlanner.Plan> plans = relieve(1, 1, 0.3);
    assertThat(moves(plans)).as("the smoothed load knows of nothing yet").isEqualTo(400);
    plans.forEach(plan -> planner.granted(plan, plan.clients().size(), now));
    now += SECOND / 2;
    double load = relieve(0.8, 1, 0.3).stream().mapToDouble(MovePlanner.Plan::load).sum();
    assertThat(load).isCloseTo(0.035, within(0.001));
  }

  @Test
  void aTopicGoesWholeThoughItHasMoreClientsThanABusIsAskedToTakeSingly() {
    clients(1, 90);
    buses(20, 0.3);
    overloaded(1);
    MovePlanner.Plan first = relieve(1, 1, 0).get(0);
    assertThat(first.clients()).hasSize(90).allMatch(c -> c.topics().contains("together"));
  }

  @Test
  void ofOnlyTwoBusesEachIsAskedForHalf() {
    clients(0.9, 0);
    buses(2, 0.3);
    overloaded(0.9);
    List<MovePlanner.Plan> plans = relieve(0.9, 0.9, 0);
    assertThat(plans).hasSize(2).allMatch(plan -> plan.clients().size() >= 98);
  }

  /** Each client may demand several times as much as the bus has served. */
  @Test
  void aBusThatIsFullSendsFewToEachAndLeavesItAloneForAWhile() {
    clients(1, 0);
    clients.subList(200, CLIENTS).clear();
    buses(3, 0.3);
    overloaded(1);
    List<MovePlanner.Plan> plans = relieve(1, 1, 0);
    assertThat(plans).hasSize(3).allMatch(plan -> plan.clients().size() == 10);
    planner.granted(plans.get(0), 10, now);
    planner.granted(plans.get(1), 10, now);
    now += SECOND / 2;
    assertThat(relieve(1, 1, 0)).hasSize(1).allMatch(p -> p.target().equals(plans.get(2).target()));
    now += SECOND / 2;
    assertThat(relieve(1, 1, 0)).hasSize(3);
  }

  @Test
  void aSoleTargetGetsTwiceAsMany() {
    clients(1, 0);
    clients.subList(200, CLIENTS).clear();
    buses(1, 0.3);
    overloaded(1);
    assertThat(relieve(1, 1, 0)).hasSize(1).allMatch(plan -> plan.clients().size() == 20);
  }

  @Test
  void aBusThatBecomesAsFullAsThisOneTakesNoMore() {
    clients(1, 0);
    buses(1, 0.68);
    buses(1, 0.69);
    overloaded(1);
    List<MovePlanner.Plan> plans = relieve(1, 1, 0);
    assertThat(plans).isNotEmpty();
    for (MovePlanner.Plan plan : plans) {
      assertThat(plan.target().load() + plan.load()).isLessThanOrEqualTo(0.7 + 1e-9);
    }
  }

  @Test
  void aRequestHasNoMoreClientsThanABusUnderstands() {
    planner = planner(100_000);
    clients(0.94, 0);
    buses(1, 0);
    overloaded(0.94);
    assertThat(relieve(0.94, 0.94, 0).get(0).clients()).hasSize(MovePlanner.MAX_CLIENTS);
  }

  @Test
  void aTopicThatIsTooLargeForARequestGoesInParts() {
    planner = planner(100_000);
    clients(0.94, 600);
    buses(1, 0);
    overloaded(0.94);
    assertThat(relieve(0.94, 0.94, 0).get(0).clients()).hasSize(MovePlanner.MAX_CLIENTS);
  }
}
