package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.call.Presence.Departure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PresenceTest {
  private static final long REJOIN = 3_000_000_000L;

  private final Presence presence = new Presence();
  private final List<String> told = new ArrayList<>();
  private final List<Runnable> due = new ArrayList<>();

  @BeforeEach
  void listen() {
    presence.listen(
        t -> told.add(t.change() + " " + t.service() + " " + t.member().number()),
        (task, nanos) -> {
          assertThat(nanos).isEqualTo(REJOIN);
          due.add(task);
        },
        REJOIN);
  }

  private void join(String service, long number, boolean fromElsewhere) {
    presence.joined(service, new Presence.Member("", number, "c", 0, "1", Map.of()), fromElsewhere);
  }

  private void pass() {
    List<Runnable> tasks = List.copyOf(due);
    due.clear();
    tasks.forEach(Runnable::run);
  }

  @Test
  void whoComesAndGoesIsTold() {
    join("a", 1, false);
    join("b", 1, false);
    presence.left("a", 1, Departure.FINAL);
    presence.left("a", 1, Departure.FINAL);
    presence.left("b", 2, Departure.FINAL);
    assertThat(told).containsExactly("JOINED a 1", "JOINED b 1", "LEFT a 1");
    assertThat(due).isEmpty();
  }

  @Test
  void aLostMemberThatComesBackInTimeWasNeverAway() {
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    join("a", 1, false);
    pass();
    assertThat(told).containsExactly("JOINED a 1");
    presence.left("a", 1, Departure.LOST);
    pass();
    assertThat(told).containsExactly("JOINED a 1", "LEFT a 1");
    join("a", 1, false);
    assertThat(told).endsWith("JOINED a 1");
  }

  @Test
  void aNewConnectionMayComeBeforeTheOldOneIsKnownToBeLost() {
    join("a", 1, false);
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    assertThat(due).isEmpty();
    presence.left("a", 1, Departure.FINAL);
    assertThat(told).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void oneThatGoesOnAtAnotherBusIsToldThere() {
    join("a", 1, false);
    presence.left("a", 1, Departure.ELSEWHERE);
    join("b", 2, false);
    presence.left("b", 2, Departure.LOST);
    presence.wentElsewhere(2);
    join("c", 3, false);
    presence.wentElsewhere(3);
    presence.left("c", 3, Departure.LOST);
    pass();
    join("d", 4, true);
    assertThat(told).containsExactly("JOINED a 1", "JOINED b 2", "JOINED c 3", "MOVED d 4");
  }

  @Test
  void oneThatHasComeBackIsHereAgain() {
    join("a", 1, false);
    presence.wentElsewhere(1);
    join("a", 1, true);
    presence.left("a", 1, Departure.LOST);
    presence.left("a", 1, Departure.LOST);
    pass();
    assertThat(told).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void eachLossHasItsOwnTime() {
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    due.remove(0).run();
    assertThat(told).as("the time of the first").containsExactly("JOINED a 1");
    pass();
    assertThat(told).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void aCrowdThatIsLostIsNotWaitedForBeyondABound() {
    for (long number = 0; number <= Presence.MOST_AWAY; number++) {
      join("a", number, false);
      presence.left("a", number, Departure.LOST);
    }
    assertThat(told).hasSize(Presence.MOST_AWAY + 2).endsWith("LEFT a " + Presence.MOST_AWAY);
    pass();
    assertThat(told).hasSize(2 * (Presence.MOST_AWAY + 1));
  }
}
