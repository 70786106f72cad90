package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.connection.BusMoveTable.Action;
import io.eventbus.client.internal.connection.BusMoveTable.Event;
import io.eventbus.client.internal.connection.BusMoveTable.Phase;
import io.eventbus.client.internal.connection.BusMoveTable.Step;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every pair of phase and event. */
class BusMoveTableTest {
  /**
   * All pairs that do something: phase, event, next phase, action. Every other pair does nothing.
   */
  private static final String EXPECTED =
      """
      CONNECTING       READY       SUBSCRIBING      SUBSCRIBE
      CONNECTING       UNREACHABLE OVER             STAY_UNBEGUN
      CONNECTING       LATE        OVER             STAY_UNBEGUN
      CONNECTING       NEW_ENDED   OVER             STAY_UNBEGUN
      CONNECTING       OLD_ENDED   OVER             ABANDON
      CONNECTING       CLOSED      OVER             ABANDON
      SUBSCRIBING      CONFIRMED   FLUSHING         FLUSH
      SUBSCRIBING      REFUSED     UNDOING          UNDO
      SUBSCRIBING      TOO_MUCH    UNDOING          UNDO
      SUBSCRIBING      LATE        UNDOING          UNDO
      SUBSCRIBING      NEW_ENDED   OVER             STAY
      SUBSCRIBING      OLD_ENDED   OLD_LOST         GO_ON
      SUBSCRIBING      CLOSED      OVER             ABANDON
      FLUSHING         FLUSHED     LEAVING          LEAVE
      FLUSHING         NOT_FLUSHED FLUSHING         PAUSE
      FLUSHING         ASK_AGAIN   FLUSHING         FLUSH
      FLUSHING         FLOWING     FLUSHING         LOOK_LATER
      FLUSHING         TOO_MUCH    UNDOING          UNDO
      FLUSHING         LATE        UNDOING          UNDO
      FLUSHING         NEW_ENDED   OVER             STAY
      FLUSHING         OLD_ENDED   OLD_LOST         GO_ON
      FLUSHING         CLOSED      OVER             ABANDON
      LEAVING          SENT        SENDING_MOVED    MOVE_SENDING
      LEAVING          DRAINED     RECEIVING_MOVED  NOTHING
      LEAVING          BEHIND      LEAVING          WAIT_ON
      LEAVING          WAITED      OLD_LOST         GO_ON
      LEAVING          NEW_ENDED   NEW_LOST         NOTHING
      LEAVING          OLD_ENDED   OLD_LOST         GO_ON
      LEAVING          CLOSED      OVER             ABANDON
      SENDING_MOVED    DRAINED     MOVED            FINISH
      SENDING_MOVED    BEHIND      SENDING_MOVED    WAIT_ON
      SENDING_MOVED    WAITED      MOVED            RELEASE_AND_FINISH
      SENDING_MOVED    NEW_ENDED   NEW_LOST_SENDING LOSE_SENDING
      SENDING_MOVED    OLD_ENDED   MOVED            RELEASE_AND_FINISH
      SENDING_MOVED    CLOSED      OVER             ABANDON
      RECEIVING_MOVED  SENT        MOVED            MOVE_SENDING_AND_FINISH
      RECEIVING_MOVED  BEHIND      RECEIVING_MOVED  WAIT_ON
      RECEIVING_MOVED  WAITED      OLD_LOST         GO_ON
      RECEIVING_MOVED  NEW_ENDED   OVER             COME_BACK
      RECEIVING_MOVED  OLD_ENDED   OLD_LOST         GO_ON
      RECEIVING_MOVED  CLOSED      OVER             ABANDON
      OLD_LOST         SENT        MOVED            RESUME_SENDING_AND_FINISH
      OLD_LOST         NEW_ENDED   OVER             LOSE_BOTH
      OLD_LOST         CLOSED      OVER             ABANDON
      NEW_LOST         DRAINED     OVER             COME_BACK
      NEW_LOST         BEHIND      NEW_LOST         WAIT_ON
      NEW_LOST         WAITED      OVER             COME_BACK
      NEW_LOST         OLD_ENDED   OVER             ABANDON
      NEW_LOST         CLOSED      OVER             ABANDON
      NEW_LOST_SENDING DRAINED     OVER             COME_BACK_SENDING
      NEW_LOST_SENDING BEHIND      NEW_LOST_SENDING WAIT_ON
      NEW_LOST_SENDING WAITED      OVER             COME_BACK_SENDING
      NEW_LOST_SENDING OLD_ENDED   OVER             ABANDON
      NEW_LOST_SENDING CLOSED      OVER             ABANDON
      UNDOING          UNDONE      OVER             STAY
      UNDOING          NEW_ENDED   OVER             STAY
      UNDOING          OLD_ENDED   OVER             ABANDON
      UNDOING          CLOSED      OVER             ABANDON
      """;

  private record Pair(Phase phase, Event event) {}

  private static Map<Pair, Step> expected() {
    Map<Pair, Step> expected = new HashMap<>();
    for (String line : EXPECTED.lines().toList()) {
      String[] words = line.split(" +", -1);
      Step before =
          expected.put(
              new Pair(Phase.valueOf(words[0]), Event.valueOf(words[1])),
              new Step(Phase.valueOf(words[2]), Action.valueOf(words[3])));
      assertThat(before).as(line).isNull();
    }
    return expected;
  }

  @Test
  void everyPairDoesWhatTheTableSays() {
    Map<Pair, Step> expected = expected();
    for (Phase phase : Phase.values()) {
      for (Event event : Event.values()) {
        assertThat(BusMoveTable.step(phase, event))
            .as("%s, %s", phase, event)
            .isEqualTo(
                expected.getOrDefault(new Pair(phase, event), new Step(phase, Action.NOTHING)));
      }
    }
  }

  @Test
  void everyPhaseCanBeReachedAndEveryActionIsUsed() {
    Set<Phase> reached = EnumSet.of(Phase.CONNECTING);
    Set<Action> used = EnumSet.noneOf(Action.class);
    for (int i = 0; i < Phase.values().length; i++) {
      for (Phase phase : List.copyOf(reached)) {
        for (Event event : Event.values()) {
          Step step = BusMoveTable.step(phase, event);
          reached.add(step.next());
          used.add(step.action());
        }
      }
    }
    assertThat(reached).containsExactly(Phase.values());
    assertThat(used).containsExactly(Action.values());
  }

  /** Last actions that leave the client at the new bus. */
  private static final Set<Action> AT_THE_NEW =
      EnumSet.of(
          Action.FINISH,
          Action.RELEASE_AND_FINISH,
          Action.MOVE_SENDING_AND_FINISH,
          Action.RESUME_SENDING_AND_FINISH);

  private static final Set<Action> AT_THE_OLD =
      EnumSet.of(Action.STAY, Action.STAY_UNBEGUN, Action.COME_BACK, Action.COME_BACK_SENDING);

  /** Checks that the client does not think that it has a connection, from wherever both end. */
  @ParameterizedTest
  @EnumSource(
      value = Phase.class,
      names = {"MOVED", "OVER"},
      mode = EnumSource.Mode.EXCLUDE)
  void noConnectionIsLeftWhenBothEnd(Phase phase) {
    Step first = BusMoveTable.step(phase, Event.OLD_ENDED);
    Step second = BusMoveTable.step(first.next(), Event.NEW_ENDED);
    assertThat(AT_THE_OLD).doesNotContain(first.action(), second.action());
    assertThat(
            first.action() == Action.ABANDON
                || second.action() == Action.LOSE_BOTH
                // The new connection's end is then that of the client's own.
                || AT_THE_NEW.contains(first.action()))
        .isTrue();
    first = BusMoveTable.step(phase, Event.NEW_ENDED);
    second = BusMoveTable.step(first.next(), Event.OLD_ENDED);
    assertThat(AT_THE_NEW).doesNotContain(first.action(), second.action());
    assertThat(
            first.action() == Action.LOSE_BOTH
                || second.action() == Action.ABANDON
                // The old connection's end is then that of the client's own.
                || AT_THE_OLD.contains(first.action()))
        .isTrue();
  }
}
