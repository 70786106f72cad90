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
import io.eventbus.schema.Event;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.StoredDelivery;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.samples.SampleFrames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events that a client publishes to durable topics. */
class SessionDurableTest extends SessionTestCase {
  private final Map<String, Supplier<String>> full = new HashMap<>();
  private final List<Integer> refusing = new ArrayList<>();
  private final FakeJournals journals = Objects.requireNonNull(bus.journals);

  @Override
  SessionFixture bus() {
    return super.bus()
        .withJournals()
        .stored(
            new StoredDelivery() {
              @Override
              public void whenDelivered(
                  int loop, String account, TopicFilter filter, Consumer<Boolean> done) {
                done.accept(true);
              }

              @Override
              public @Nullable Supplier<String> refusal(String account) {
                return full.get(account);
              }

              @Override
              public void full(int journal) {
                refusing.add(journal);
              }
            });
  }

  @BeforeEach
  void createJournal() {
    link.address = "192.0.2.1";
    var unused =
        journals.create(
            new JournalDefinition(
                "orders",
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                new Retention(0, 0, 7),
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
    return new Confirm(
        TypeCode.PUBLISH.code(),
        sequence,
        "orders.eu",
        -1L,
        position,
        repeated,
        FakeJournals.FIRST_CREATION);
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
  void answersComeInTheOrderOfTheFrames() {
    journals.delaysAnswers(true);
    handle(SampleFrames.publish("orders.eu", 1, true, "x"));
    handle(SampleFrames.publish("orders.eu", 2, true, "y"));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(7L)));
    handle(SampleFrames.publish("orders.eu", 3, true, "z"));
    journals.answer(2);
    journals.answer(1);
    assertThat(link.taken()).isEmpty();
    journals.answer(0);
    assertThat(link.taken())
        .containsExactly(
            confirm(1, 1, false), confirm(2, 2, false), new Barrier(7L), confirm(3, 3, false));
    assertThat(bus.counters.loops().get(0).stored.get()).isEqualTo(3);
  }

  @Test
  void whatAJournalRefusesIsAProblemOfTheFrame() {
    handle(SampleFrames.publish("orders.eu", 1, true, "1", "2", "3", "4", "5", "6", "7"));
    assertThat(link.taken()).containsExactly(confirm(7, 7, false));
    handle(SampleFrames.publish("orders.eu", 8, true, "x"));
    assertThat(problem(ErrorCode.STORE_FULL, TypeCode.PUBLISH, 8, "orders.eu").getRetryable())
        .isTrue();
    assertThat(refusing).containsExactly(1);
    var unused = journals.delete(1);
    handle(SampleFrames.publish("orders.eu", 9, true, "x"));
    problem(ErrorCode.NO_JOURNAL, TypeCode.PUBLISH, 9, "orders.eu");
    journals.unavailable(true);
    handle(SampleFrames.publish("orders.eu", 10, true, "x"));
    assertThat(problem(ErrorCode.UNAVAILABLE, TypeCode.PUBLISH, 10, "orders.eu").getRetryable())
        .isTrue();
    assertThat(link.closed).isEmpty();
    assertThat(bus.counters.notStored(ErrorCode.STORE_FULL)).isEqualTo(1);
    assertThat(bus.counters.notStored(ErrorCode.NO_JOURNAL)).isEqualTo(1);
    assertThat(bus.counters.notStored(ErrorCode.UNAVAILABLE)).isEqualTo(1);
    assertThat(bus.counters.loops().get(0).stored.get()).isEqualTo(1);
  }

  @Test
  void anAccountWithoutRoomIsRefusedButForWhatItHasStored() {
    handle(SampleFrames.publish("orders.eu", 1, true, "x"));
    full.put("other", () -> "full of others");
    handle(SampleFrames.publish("orders.eu", 2, true, "y"));
    assertThat(link.taken()).containsExactly(confirm(1, 1, false), confirm(2, 2, false));
    full.put("", () -> "full");
    handle(SampleFrames.publish("orders.eu", 3, true, "z"));
    Problem problem = problem(ErrorCode.STORE_FULL, TypeCode.PUBLISH, 3, "orders.eu");
    assertThat(problem.getMessage()).isEqualTo("full");
    assertThat(refusing).as("the journal has room").isEmpty();
    assertThat(problem.getRetryable()).isTrue();
    handle(SampleFrames.publish("orders.eu", 2, true, "y"));
    assertThat(link.taken()).containsExactly(confirm(2, 2, true));
    full.clear();
    handle(SampleFrames.publish("orders.eu", 3, true, "z"));
    problem(ErrorCode.STORE_FULL, TypeCode.PUBLISH, 3, "orders.eu");
    handle(SampleFrames.publish("orders.eu", 4, true, "z"));
    assertThat(link.taken()).containsExactly(confirm(4, 3, false));
  }

  private static byte[] named(String name, long number, long sequence, int events) {
    Event event = new Event(1L, null, Map.of(), ByteBuffer.allocate(0));
    return ControlFrames.encode(
        TypeCode.PUBLISH,
        new Publish(
            "orders.eu",
            sequence,
            0L,
            true,
            Collections.nCopies(events, event),
            0L,
            0L,
            0L,
            name,
            number));
  }

  @Test
  void repetitionsOfANameAreKnownByItsNumbersInAnySession() {
    handle(named("outbox", 10, 1, 2));
    handle(SampleFrames.publish("orders.eu", 3, true, "x"));
    handle(named("outbox", 15, 4, 1));
    // A number of the session that a name has used is none that is missing.
    handle(SampleFrames.publish("orders.eu", 5, true, "y"));
    assertThat(link.taken())
        .containsExactly(
            confirm(2, 2, false), confirm(3, 3, false), confirm(4, 4, false), confirm(5, 5, false));
    FakeLink otherLink = new FakeLink();
    otherLink.address = "192.0.2.2";
    Session other = otherLink.session(context);
    byte[] message =
        message(
            hello("s3cret", null),
            named("outbox", 10, 1, 2),
            named("outbox", 12, 3, 1),
            named("outbox", 15, 4, 3),
            SampleFrames.publish("orders.eu", 7, true, "z"));
    assertThat(handle(other, message, 0)).isEqualTo(message.length);
    List<Object> sent = otherLink.taken();
    assertThat(sent.get(1)).isEqualTo(confirm(2, 2, true));
    assertThat(((Problem) sent.get(2)).getCode()).isEqualTo(ErrorCode.SEQUENCE_GAP);
    assertThat(((Problem) sent.get(2)).getAbout()).isEqualTo(3);
    assertThat(((Problem) sent.get(2)).getMessage()).startsWith("number: 12 (expected: ");
    assertThat(sent.get(3)).isEqualTo(confirm(6, 7, true));
    assertThat(((Problem) sent.get(4)).getCode()).isEqualTo(ErrorCode.STORE_FULL);
    other.onClosed();
  }

  @Test
  void anEventOfANameIsNotStoredBeforeAnEarlierOneThatWasLost() {
    handle(named("outbox", 4, 1, 1));
    journals.unavailable(true);
    handle(named("outbox", 6, 2, 1));
    journals.unavailable(false);
    link.taken();
    handle(named("outbox", 7, 3, 1));
    problem(ErrorCode.SEQUENCE_GAP, TypeCode.PUBLISH, 3, "orders.eu");
    handle(named("outbox", 6, 4, 1));
    handle(named("outbox", 7, 5, 1));
    handle(named("outbox", 9, 6, 1));
    handle(named("other", 8, 7, 1));
    assertThat(link.taken())
        .containsExactly(
            confirm(4, 2, false), confirm(5, 3, false), confirm(6, 4, false), confirm(7, 5, false));
  }

  @Test
  void noNameHasTheKeyOfASession() {
    ProducerKeys keys = new ProducerKeys(bus.memory, 0x0161_6263_6465_6667L);
    assertThat(keys.ofName("abcdefg")).isNotEqualTo(keys.ofSession());
    ProducerKeys plain = new ProducerKeys(bus.memory, 0x6162_6364_6566_6768L);
    assertThat(plain.ofName("abcdefgh")).isNotEqualTo(plain.ofSession());
    keys.close();
    plain.close();
  }

  @Test
  void namesHaveRulesAndAMaximumNumber() {
    for (String illegal : List.of("", "a b", "a/b", "a\u0001")) {
      handle(named(illegal, 1, 9, 1));
      assertThat(problem(ErrorCode.ILLEGAL_TOPIC, TypeCode.PUBLISH, 9, "orders.eu").getMessage())
          .startsWith("producer name: ");
    }
    handle(named("x".repeat(64), 1, 9, 1));
    problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 9, "orders.eu");
    assertThat(bus.memory.used()).isZero();
    for (int i = 0; i < ProducerKeys.MAX_NAMES; i++) {
      context.budget().renew();
      handle(named("n" + i, 1, 1, 1));
    }
    link.taken();
    handle(named("other", 1, 9, 1));
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.PUBLISH, 9, "orders.eu").getMessage())
        .isEqualTo("producer names of the connection: more than 256 (expected: at most that)");
    handle(named("n0", 1, 1, 1));
    assertThat(link.taken()).containsExactly(confirm(1, 1, true));
    assertThat(bus.memory.used())
        .isEqualTo(
            (long) ProducerKeys.MAX_NAMES
                * (ProducerKeys.NAME_BYTES + DurablePublishing.TOPIC_BYTES));
    session.onClosed();
    assertThat(bus.memory.used()).isZero();
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
  void manyAnswersAreGivenInTurns() {
    int frames = 2 * DurablePublishing.MAX_AT_ONCE;
    journals.delaysAnswers(true);
    for (int i = 1; i <= frames; i++) {
      handle(SampleFrames.publish("orders.eu", i, true, "x"));
    }
    // The first frame is answered last, so that all answers are due at one moment.
    for (int i = frames - 1; i > 0; i--) {
      journals.answer(i);
    }
    context.budget().spend(1 << 20);
    journals.answer(0);
    assertThat(link.taken()).hasSize(DurablePublishing.MAX_AT_ONCE);
    context.budget().renew();
    link.turns.remove(0).run();
    assertThat(link.taken()).hasSize(frames - DurablePublishing.MAX_AT_ONCE);
    assertThat(link.turns).isEmpty();
  }

  @Test
  void framesOnTheirWayToTheDiskAreBounded() {
    journals.holds(true);
    byte[] frame = SampleFrames.publish("orders.eu", 1, false, "x");
    int frames = 0;
    context.budget().renew();
    while (handle(session, frame, 0) == frame.length) {
      frames++;
      context.budget().renew();
    }
    assertThat(frames).isEqualTo(512);
    assertThat(session.awaitsRoom()).isTrue();
    journals.applyHeld();
    assertThat(retries).hasValue(1);
    assertThat(handle(session, frame, 0)).isEqualTo(frame.length);
  }

  @Test
  void aFrameForAJournalIsWork() {
    long before = context.budget().total();
    handle(SampleFrames.publish("orders.eu", 1, false, "x"));
    assertThat(context.budget().total() - before).isGreaterThan(30);
  }

  @Test
  void aBarrierWaitsForWhatWasPublishedBeforeIt() {
    journals.holds(true);
    handle(SampleFrames.publish("orders.eu", 1, true, "x"));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(7L)));
    handle(SampleFrames.publish("other", 1, true, "x"));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "other", 0L, 0L, false, 0L));
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
