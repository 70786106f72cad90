package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.call.Presence.Departure;
import io.eventbus.server.memory.BusMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PresenceTest {
  private static final long REJOIN = 3_000_000_000L;

  private static final long MEMORY = 1L << 20;

  private final BusMemory memory = new BusMemory(MEMORY);
  private final Presence presence = new Presence(memory.registrations());
  private final List<String> events = new ArrayList<>();
  private final List<Runnable> due = new ArrayList<>();

  @BeforeEach
  void listen() {
    presence.listen(
        t -> events.add(t.change() + " " + t.service() + " " + t.member().number()),
        (task, nanos) -> {
          assertThat(nanos).isEqualTo(REJOIN);
          due.add(task);
        },
        REJOIN);
  }

  private void join(String service, long number, boolean fromPeer) {
    presence.joined(service, new Presence.Member("", number, "c", 0, "1", Map.of()), fromPeer);
  }

  private void pass() {
    List<Runnable> tasks = List.copyOf(due);
    due.clear();
    tasks.forEach(Runnable::run);
  }

  @Test
  void reportsJoinsAndLeaves() {
    join("a", 1, false);
    join("b", 1, false);
    presence.left("a", 1, Departure.FINAL);
    presence.left("a", 1, Departure.FINAL);
    presence.left("b", 2, Departure.FINAL);
    assertThat(events).containsExactly("JOINED a 1", "JOINED b 1", "LEFT a 1");
    assertThat(due).isEmpty();
  }

  @Test
  void aLostMemberThatComesBackInTimeWasNeverAway() {
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    join("a", 1, false);
    pass();
    assertThat(events).containsExactly("JOINED a 1");
    presence.left("a", 1, Departure.LOST);
    pass();
    assertThat(events).containsExactly("JOINED a 1", "LEFT a 1");
    join("a", 1, false);
    assertThat(events).endsWith("JOINED a 1");
  }

  @Test
  void aNewConnectionMayComeBeforeTheOldOneIsKnownToBeLost() {
    join("a", 1, false);
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    assertThat(due).isEmpty();
    presence.left("a", 1, Departure.FINAL);
    assertThat(events).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void reportsNoLeaveOfAMovedMember() {
    join("a", 1, false);
    presence.left("a", 1, Departure.MOVED_AWAY);
    join("b", 2, false);
    presence.left("b", 2, Departure.LOST);
    presence.movedAway(2);
    join("c", 3, false);
    presence.movedAway(3);
    presence.left("c", 3, Departure.LOST);
    pass();
    join("d", 4, true);
    assertThat(events).containsExactly("JOINED a 1", "JOINED b 2", "JOINED c 3", "MOVED d 4");
  }

  @Test
  void aReturnedMemberCountsHereAgain() {
    join("a", 1, false);
    presence.movedAway(1);
    join("a", 1, true);
    presence.left("a", 1, Departure.LOST);
    presence.left("a", 1, Departure.LOST);
    pass();
    assertThat(events).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void eachLossHasItsOwnTime() {
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    join("a", 1, false);
    presence.left("a", 1, Departure.LOST);
    due.remove(0).run();
    assertThat(events).as("the time of the first").containsExactly("JOINED a 1");
    pass();
    assertThat(events).containsExactly("JOINED a 1", "LEFT a 1");
  }

  @Test
  void aCrowdThatIsLostIsNotWaitedForBeyondABound() {
    long first = firstThatIsNotWaitedFor("a", 0);
    assertThat(events).hasSize((int) first + 2).endsWith("LEFT a " + first);
    assertThat(memory.registrations().used()).isBetween(MEMORY / 16 - 1_000, MEMORY / 16 + 1_000);
    pass();
    assertThat(events).hasSize(2 * ((int) first + 1));
    assertThat(memory.used()).isZero();
  }

  /**
   * Lets members of an account come and get lost, until a loss is reported at once; returns its
   * number.
   */
  private long firstThatIsNotWaitedFor(String account, long number) {
    long next = number;
    do {
      presence.joined("a", member(account, next), false);
      presence.left("a", next, Departure.LOST);
      next++;
    } while (!events.get(events.size() - 1).startsWith("LEFT"));
    return next - 1;
  }

  private static Presence.Member member(String account, long number) {
    return new Presence.Member(account, number, "c", 0, "1", Map.of("k", "v".repeat(100)));
  }

  @Test
  void membersOfOtherAccountsAreWaitedForWhileACrowdOfOneIsLost() {
    long first = firstThatIsNotWaitedFor("crowd", 0);
    presence.joined("a", member("other", first + 1), false);
    presence.left("a", first + 1, Departure.LOST);
    assertThat(events).endsWith("JOINED a " + (first + 1));
    presence.joined("a", member("other", first + 1), false);
    assertThat(events).as("is back").endsWith("JOINED a " + (first + 1));
    pass();
    presence.left("a", first + 1, Departure.FINAL);
    assertThat(memory.used()).isZero();
  }
}
