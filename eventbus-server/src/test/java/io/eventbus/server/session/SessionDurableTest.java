package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.samples.SampleFrames;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events that a client publishes to durable topics. */
class SessionDurableTest extends SessionTestCase {
  private final FakeJournals journals = Objects.requireNonNull(bus.journals);

  @Override
  SessionFixture bus() {
    return super.bus().withJournals();
  }

  @BeforeEach
  void createJournal() {
    var unused =
        journals.create(
            new JournalDefinition(
                "orders",
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                new Retention(0, 0, 5),
                FullPolicy.REFUSE));
    bus.routes.set(routes(1));
    assertThat(welcome().getDurable()).isTrue();
  }

  private static JournalRoutes.Table routes(int work) {
    return new JournalRoutes.Table() {
      @Override
      public int journal(String account, String topic) {
        return topic.startsWith("orders.") ? 1 : 0;
      }

      @Override
      public int work(String account) {
        return work;
      }
    };
  }

  private static Confirm confirm(long sequence, long position, boolean repeated) {
    return new Confirm(TypeCode.PUBLISH.code(), sequence, "orders.eu", -1L, position, repeated);
  }

  @Test
  void aPublishIsConfirmedWithItsPositionWhenItIsCommitted() {
    handle(subscribe(1, "orders.>", null));
    link.taken();
    journals.holds(true);
    handle(SampleFrames.publish("orders.eu", 1, true, "x", "y"));
    handle(SampleFrames.publish("orders.eu", 3, false, "z"));
    assertThat(link.taken()).isEmpty();
    assertThat(link.got).isEmpty();
    journals.applyHeld();
    assertThat(link.taken()).containsExactly(confirm(2, 2, false));
    assertThat(session.published()).isEqualTo(3);
    journals.holds(false);
    handle(SampleFrames.publish("orders.eu", 3, true, "z"));
    assertThat(link.taken()).containsExactly(confirm(3, 3, true));
  }

  @Test
  void whatAJournalRefusesIsAProblemOfTheFrame() {
    handle(SampleFrames.publish("orders.eu", 1, true, "1", "2", "3", "4", "5"));
    assertThat(link.taken()).containsExactly(confirm(5, 5, false));
    handle(SampleFrames.publish("orders.eu", 6, true, "x"));
    assertThat(problem(ErrorCode.STORE_FULL, TypeCode.PUBLISH, 6, "orders.eu").getRetryable())
        .isTrue();
    var unused = journals.delete(1);
    handle(SampleFrames.publish("orders.eu", 7, true, "x"));
    problem(ErrorCode.NO_JOURNAL, TypeCode.PUBLISH, 7, "orders.eu");
    journals.unavailable(true);
    handle(SampleFrames.publish("orders.eu", 8, true, "x"));
    assertThat(problem(ErrorCode.UNAVAILABLE, TypeCode.PUBLISH, 8, "orders.eu").getRetryable())
        .isTrue();
    assertThat(link.closed).isEmpty();
    assertThat(bus.counters.notStored(ErrorCode.STORE_FULL)).isEqualTo(1);
    assertThat(bus.counters.notStored(ErrorCode.NO_JOURNAL)).isEqualTo(1);
    assertThat(bus.counters.notStored(ErrorCode.UNAVAILABLE)).isEqualTo(1);
    assertThat(bus.counters.loops().get(0).stored.get()).isEqualTo(1);
  }

  @Test
  void theLookUpOfAJournalIsChargedToItsFrame() {
    bus.routes.set(routes(700));
    long before = context.budget().total();
    handle(SampleFrames.publish("orders.eu", 1, true, "x"));
    long looked = context.budget().total();
    assertThat(looked - before).isBetween(700L, 800L);
    handle(SampleFrames.publish("orders.eu", 2, true, "y"));
    assertThat(context.budget().total() - looked).as("remembered").isLessThan(100);
  }

  @Test
  void aPublisherWaitsForRoomAndGoesOn() {
    journals.full(true);
    byte[] frame = SampleFrames.publish("orders.eu", 1, true, "x");
    assertThat(handle(session, frame, 0)).isZero();
    assertThat(session.awaitsRoom()).isTrue();
    assertThat(retries).hasValue(0);
    journals.full(false);
    assertThat(retries.get()).isPositive();
    assertThat(handle(session, frame, 0)).isEqualTo(frame.length);
    assertThat(session.awaitsRoom()).isFalse();
    assertThat(link.taken()).containsExactly(confirm(1, 1, false));
  }

  @Test
  void aBarrierWaitsForWhatWasPublishedBeforeIt() {
    journals.holds(true);
    handle(SampleFrames.publish("orders.eu", 1, true, "x"));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(7L)));
    handle(SampleFrames.publish("other", 1, true, "x"));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "other", 0L, 0L, false));
    journals.applyHeld();
    handle(SampleFrames.publish("orders.eu", 2, true, "y"));
    assertThat(link.taken()).containsExactly(confirm(1, 1, false), new Barrier(7L));
  }

  @Test
  void onlyTheLastTopicsAreRemembered() {
    for (int i = 0; i < DurablePublishing.MAX_TOPICS + 5; i++) {
      context.budget().renew();
      handle(SampleFrames.publish("orders." + i, 1, false, "x"));
    }
    assertThat(bus.memory.used())
        .isEqualTo((long) DurablePublishing.MAX_TOPICS * DurablePublishing.TOPIC_BYTES);
  }
}
