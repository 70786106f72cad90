package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.subscription.RoutedSubscription;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Subscriptions of a client. */
class SessionSubscriptionsTest extends SessionTestCase {
  @Test
  void anIdThatIsUsedAgainBeforeItsDrainedHasADrainedForEachUnsubscribe() {
    welcome();
    handle(
        subscribe(1, "a", null),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)),
        subscribe(1, "b", null),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    link.taken();
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L), new Drained(1L));
  }

  @Test
  void subscriptionsAreRefusedEachForItsReason() {
    link.local = false;
    welcome();
    handle(subscribe(1, "a.>.b", null));
    problem(ErrorCode.ILLEGAL_FILTER, TypeCode.SUBSCRIBE, 1, "");
    handle(subscribe(2, "a", " "));
    problem(ErrorCode.ILLEGAL_FILTER, TypeCode.SUBSCRIBE, 2, "");
    handle(subscribe(3, "$SYS.>", null));
    problem(ErrorCode.FORBIDDEN, TypeCode.SUBSCRIBE, 3, "");
    handle(subscribe(4, "a", null));
    assertThat(link.taken()).hasSize(1);
    handle(subscribe(4, "b", null));
    problem(ErrorCode.DUPLICATE_SUBSCRIPTION, TypeCode.SUBSCRIBE, 4, "");
    handle(subscribe(5, "a", "g"), subscribe(6, "b", null));
    link.taken();
    handle(subscribe(7, "c", null));
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SUBSCRIBE, 7, "").getMessage())
        .contains("at most 3");
    assertThat(session.subscriptions().size()).isEqualTo(SUBSCRIPTIONS);
    assertThat(bus.index.size()).isEqualTo(SUBSCRIPTIONS);
    assertThat(link.closed).isEmpty();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(5L)));
    handle(subscribe(7, "c", null));
    assertThat(link.taken())
        .last()
        .isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 7L, "", -1L, 0L, false, 0L));
  }

  @Test
  void aClientOfThisMachineMayObserve() {
    welcome();
    handle(subscribe(1, "$SYS.>", null));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
  }

  @Test
  void equalSubscriptionsAreOneToTheIndexUntilTheLastHasGone() {
    welcome();
    handle(subscribe(1, "a.*", null), subscribe(2, "a.*", null), subscribe(3, "a.*", "g"));
    assertThat(link.taken()).hasSize(3);
    assertThat(session.subscriptions().size()).isEqualTo(3);
    assertThat(bus.index.size()).as("one without and one with a group").isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(bus.index.size()).isEqualTo(2);
    assertThat(bus.index.subscribers("a.b")).isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    assertThat(bus.index.size()).isEqualTo(1);
    handle(
        subscribe(4, "a.*", "g"), ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(3L)));
    link.taken();
    handle(SampleFrames.publish("a.b", 1, false, "x"));
    assertThat(link.got).hasSize(1);
    assertThat(link.got.get(0).groups()).as("the one that is left").containsExactly(4L);
  }

  @Test
  void theGroupsOfAConnectionHaveABound() {
    welcome();
    handle(subscribe(1, "a", "one"), subscribe(2, "b", "one"));
    link.taken();
    handle(subscribe(3, "a", "two"));
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SUBSCRIBE, 3, "").getMessage())
        .contains("groups (expected: at most 1)");
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    handle(subscribe(3, "a", "two"));
    assertThat(link.taken())
        .last()
        .isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 3L, "", -1L, 0L, false, 0L));
  }

  @Test
  void theSubscriptionsOfAllConnectionsHaveABound() {
    welcome();
    List<RoutedSubscription> filled = new ArrayList<>();
    for (long id = 1; bus.index.bytes() < SUBSCRIPTION_BYTES; id++) {
      TopicFilter filter = TopicFilter.parse("a." + id);
      RoutedSubscription subscription =
          new RoutedSubscription(link, id, filter, null, Overflow.BLOCK);
      bus.index.keep(subscription);
      bus.index.add(subscription);
      filled.add(subscription);
    }
    assertThat(filled).hasSizeGreaterThan(4);
    handle(subscribe(1, "a", null));
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SUBSCRIBE, 1, "").getMessage())
        .contains("the bus has all the subscriptions")
        .contains("at most " + SUBSCRIPTION_BYTES);
    assertThat(link.closed).isEmpty();
    filled.forEach(bus.index::remove);
    filled.forEach(bus.index::release);
  }

  @Test
  void unsubscribeIsConfirmedAndLaterDrained() {
    welcome();
    handle(subscribe(1, "a", null), subscribe(2, "a", null));
    link.taken();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.UNSUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
    handle(SampleFrames.publish("a", 1, false, "x"));
    assertThat(link.got).as("the other one is still there").hasSize(1);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.UNSUBSCRIBE, 1, "");
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    handle(SampleFrames.publish("a", 2, false, "x"));
    assertThat(link.got).hasSize(1);
    assertThat(session.subscriptions().size()).isZero();
  }

  @Test
  void drainedIsNotToldToAClosedConnection() {
    welcome();
    handle(subscribe(1, "a", null));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    link.taken();
    session.close(CloseReason.NORMAL, "");
    bus.loops.runAll();
    assertThat(link.taken()).isEmpty();
  }
}
