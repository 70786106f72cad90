package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.ReachableHeap;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.security.Principal;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SessionTest {
  private static final Instant NOW = Instant.parse("2026-03-04T05:06:07.123456Z");
  private static final int SUBSCRIPTIONS = 3;
  private static final int SUBSCRIPTION_BYTES = 2048;

  private final FakeLoops loops = new FakeLoops(1);
  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final BusCounters counters = new BusCounters(1);
  private final LookedUp byNumber = new LookedUp();
  private final Sessions sessions =
      new Sessions(
          "bus",
          Clock.fixed(NOW, ZoneOffset.UTC),
          List::of,
          ResumeKey.ofThisRun(),
          System::nanoTime,
          byNumber);
  private final LoopContext context = context("s3cret");
  private final FakeLink link = new FakeLink();
  private final Session session = new Session(context, link);
  private final AtomicInteger retries = new AtomicInteger();

  private LoopContext context(@Nullable String token) {
    ServerConfig config =
        ServerConfig.of(
            Map.of(
                "limits.subscriptions",
                String.valueOf(SUBSCRIPTIONS),
                "limits.groups",
                "1",
                "limits.subscription-bytes",
                String.valueOf(SUBSCRIPTION_BYTES),
                "limits.payload-bytes",
                "1000"));
    BusContext bus =
        new BusContext(
            "bus",
            config.limits(),
            index,
            memory,
            sessions,
            TestAccess.token(token),
            new LoopBarrier(loops),
            counters,
            Clock.fixed(NOW, ZoneOffset.UTC));
    return TestLoop.of(bus, loops, allocator, new WorkBudget(() -> 0));
  }

  /** Map that runs a task when a session was just found by its number. */
  private static final class LookedUp extends ConcurrentSkipListMap<Long, Session> {
    private static final long serialVersionUID = 1;

    private transient @Nullable Runnable next;

    @Override
    public @Nullable Session get(Object number) {
      Session found = super.get(number);
      Runnable happens = next;
      next = null;
      if (happens != null) {
        happens.run();
      }
      return found;
    }
  }

  @AfterEach
  void assertNoLeaks() {
    session.onClosed();
    assertThat(memory.used()).isZero();
    assertThat(index.size()).isZero();
    assertThat(index.bytes()).isZero();
    assertThat(sessions.find(1)).isNull();
    assertThat(link.addressBytes).isZero();
  }

  private static byte[] hello(@Nullable String token, @Nullable String resume) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("client", "agent/1", token, resume, Map.of(), null, null, null));
  }

  private static byte[] subscribe(long id, String filter, @Nullable String group) {
    return ControlFrames.encode(
        TypeCode.SUBSCRIBE, new Subscribe(id, filter, group, Overflow.BLOCK));
  }

  private static byte[] message(byte[]... frames) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] frame : frames) {
      all.writeBytes(frame);
    }
    return all.toByteArray();
  }

  @Test
  void delaysTheRefusalOfFrequentWrongTokens() {
    link.late = true;
    byte[] wrong = hello("wrong", null);
    assertThat(handle(session, wrong, 0)).as("nothing was handled").isZero();
    assertThat(link.sent).isEmpty();
    assertThat(link.closed).isEmpty();
    assertThat(session.isWelcomed()).isFalse();
    assertThat(handle(session, wrong, 0)).isEqualTo(wrong.length);
    assertThat(link.failures).containsExactly("showed a wrong token");
    assertThat(link.sent).hasSize(1).first().isInstanceOf(Problem.class);
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void aRightTokenIsNoFailure() {
    link.late = true;
    handle(session, hello("s3cret", null), 0);
    assertThat(link.failures).isEmpty();
    assertThat(session.isWelcomed()).isTrue();
  }

  /**
   * Handles a message that does not start at the buffer's start; returns how many bytes were
   * handled.
   */
  private int handle(Session by, byte[] message, int from) {
    ByteBuffer in = ByteBuffer.allocate(message.length + 10);
    in.put(5, message);
    return by.onMessage(in, 5 + from, 5 + message.length, 77, retries::incrementAndGet) - 5;
  }

  private void handle(byte[]... frames) {
    byte[] message = message(frames);
    assertThat(handle(session, message, 0)).isEqualTo(message.length);
  }

  private Welcome welcome() {
    handle(hello("s3cret", null));
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    return (Welcome) sent.get(0);
  }

  private Problem problem(ErrorCode code, TypeCode type, long about, String topic) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(code);
    assertThat(problem.getTypeCode()).isEqualTo(type.code());
    assertThat(problem.getAbout()).isEqualTo(about);
    assertThat(problem.getTopic()).isEqualTo(topic);
    assertThat(counters.problems(code)).isPositive();
    return problem;
  }

  private void assertClosed(CloseReason reason) {
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(reason);
  }

  @Test
  void helloIsWelcomedWithASecretAndItsNumber() throws Exception {
    assertThat(session.isWelcomed()).isFalse();
    Welcome welcome = welcome();
    assertThat(welcome.getBus()).isEqualTo("bus");
    assertThat(welcome.getSession()).startsWith("bus-").isEqualTo(session.id());
    assertThat(welcome.getResume()).hasSize(43).matches("[A-Za-z0-9_-]+");
    byte[] hash =
        MessageDigest.getInstance("SHA-256")
            .digest(welcome.getResume().getBytes(StandardCharsets.UTF_8));
    assertThat(welcome.getProducer())
        .isEqualTo(ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE)
        .isEqualTo(session.producer());
    assertThat(welcome.getLimits().getSubscriptions()).isEqualTo(SUBSCRIPTIONS);
    assertThat(welcome.getLimits().getPayloadBytes()).isEqualTo(1000);
    assertThat(welcome.getOthers()).isEmpty();
    assertThat(session.isWelcomed()).isTrue();
    assertThat(sessions.find(1)).isSameAs(session);
    assertThat(session.identity().client()).isEqualTo("client");
    assertThat(session.identity().agent()).isEqualTo("agent/1");
    assertThat(session.identity().since()).isEqualTo(NOW);
    assertThat(session.identity().toString()).doesNotContain(welcome.getResume());
  }

  @Test
  void twoSecretsAreNeverTheSame() {
    Welcome one = welcome();
    FakeLink other = new FakeLink();
    Session second = new Session(context, other);
    handle(second, hello("s3cret", null), 0);
    Welcome two = (Welcome) other.taken().get(0);
    assertThat(two.getResume()).isNotEqualTo(one.getResume());
    assertThat(two.getSession()).isNotEqualTo(one.getSession());
    second.onClosed();
  }

  @Test
  void aResumeKeepsTheNumberOnAnyBusAndReplacesTheEarlierConnection() {
    Welcome first = welcome();
    String resume = first.getResume();
    FakeLink other = new FakeLink();
    Session second = new Session(context, other);
    handle(second, hello("s3cret", resume), 0);
    assertThat(second.producer()).isEqualTo(first.getProducer());
    assertClosed(CloseReason.REPLACED);
    assertThat(other.closed).isEmpty();
    assertThat(sessions.after(0)).containsExactly(second);
    // The end of the old connection comes late.
    session.onClosed();
    assertThat(sessions.after(0)).containsExactly(second);
    Session third = new Session(context, new FakeLink());
    handle(third, hello("s3cret", resume), 0);
    assertThat(other.closed).as("the second is known by its number").hasSize(1);
    assertThat(sessions.after(0)).containsExactly(third);
    third.onClosed();
    second.onClosed();
    assertThat(sessions.after(0)).isEmpty();
  }

  private static byte[] back(@Nullable String resume, String previous) {
    return ControlFrames.encode(
        TypeCode.HELLO,
        new Hello("client", "agent/1", "s3cret", resume, Map.of(), null, null, previous));
  }

  @Test
  void asksThePreviousBusToCloseItsSession() {
    List<String> asked = new ArrayList<>();
    sessions.setStaleSessions((id, producer) -> asked.add(id + " " + producer));
    handle(hello("s3cret", null));
    String resume = ((Welcome) link.taken().get(0)).getResume();
    Session second = new Session(context, new FakeLink());
    handle(second, back(resume, "other-1-7"), 0);
    assertThat(asked).containsExactly("other-1-7 " + session.producer());
    // This bus's own session was found by its number; another client's resume proves nothing.
    Session third = new Session(context, new FakeLink());
    handle(third, back(resume, second.identity().id()), 0);
    Session stranger = new Session(context, new FakeLink());
    handle(stranger, back("A".repeat(43), "other-1-7"), 0);
    Session fresh = new Session(context, new FakeLink());
    handle(fresh, back(null, "other-1-7"), 0);
    assertThat(asked).hasSize(1);
    for (Session open : List.of(second, third, stranger, fresh)) {
      open.onClosed();
    }
  }

  @Test
  void aSessionIsReplacedFromAnotherBusByItsIdAndNumberOnly() {
    handle(hello("s3cret", null));
    String id = session.identity().id();
    long producer = session.producer();
    for (String wrong :
        List.of("", id + "0", id.substring(0, id.length() - 1), "x" + id, id + "x")) {
      assertThat(sessions.replace(wrong, producer)).as(wrong).isFalse();
    }
    assertThat(sessions.replace(id, producer + 1)).isFalse();
    assertThat(link.closed).isEmpty();
    assertThat(sessions.replace(id, producer)).isTrue();
    assertClosed(CloseReason.REPLACED);
  }

  @Test
  void aResumeThatTheClientMadeUpCountsAsNone() {
    String chosen = "A".repeat(43);
    handle(hello("s3cret", chosen));
    Welcome first = (Welcome) link.taken().get(0);
    assertThat(first.getResume()).isNotEqualTo(chosen).hasSize(43);
    assertThat(first.getProducer()).isNotEqualTo(Resume.producer(chosen, Principal.UNKNOWN));
    assertThat(first.getProducer())
        .isEqualTo(Resume.producer(first.getResume(), Principal.UNKNOWN));
    assertThat(counters.resumesRejected.sum()).isEqualTo(1);
    FakeLink other = new FakeLink();
    Session second = new Session(context, other);
    handle(second, hello("s3cret", chosen), 0);
    Welcome again = (Welcome) other.taken().get(0);
    assertThat(again.getProducer()).isNotEqualTo(first.getProducer());
    assertThat(link.closed).as("nobody is replaced by it").isEmpty();
    assertThat(sessions.after(0)).containsExactly(session, second);
    assertThat(counters.resumesRejected.sum()).isEqualTo(2);
    // Its replacement is as good as any.
    Session third = new Session(context, new FakeLink());
    handle(third, hello("s3cret", first.getResume()), 0);
    assertThat(third.producer()).isEqualTo(first.getProducer());
    assertClosed(CloseReason.REPLACED);
    assertThat(counters.resumesRejected.sum()).isEqualTo(2);
    third.onClosed();
    second.onClosed();
  }

  @Test
  void aResumeOfAnotherKeyTakesNobodysPlace() {
    Welcome first = welcome();
    String foreign =
        ResumeKey.ofThisRun().create(new SecureRandom(), Principal.UNKNOWN, number -> true);
    Session second = new Session(context, new FakeLink());
    handle(second, hello("s3cret", foreign), 0);
    assertThat(second.producer())
        .isNotEqualTo(Resume.producer(foreign, Principal.UNKNOWN))
        .isNotEqualTo(first.getProducer());
    assertThat(link.closed).isEmpty();
    second.onClosed();
  }

  @Test
  void aTokenIsNotTakenFromWhoHasMadeUpTheResume() {
    String chosen = "A".repeat(43);
    MoveTokens.Grant grant =
        new MoveTokens.Grant(Resume.producer(chosen, Principal.UNKNOWN), "one", 1);
    String token = sessions.tokens().issue(grant, Duration.ofSeconds(10));
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", "s3cret", chosen, Map.of(), token, null, null)));
    assertThat(problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "").getMessage())
        .contains("Hello.resume", "auth.resume-key-file")
        .doesNotContain(chosen);
    assertClosed(CloseReason.UNAUTHENTICATED);
    assertThat(session.isWelcomed()).isFalse();
    assertThat(session.moveGrant()).isNull();
    assertThat(sessions.tokens().outstanding()).as("it was not used up").isEqualTo(1);
    assertThat(counters.resumesRejected.sum()).as("no number was given").isZero();
  }

  /** Listener that records the outcome of a move. */
  private static final class RecordingListener implements MoveListener {
    final List<String> outcomes = new ArrayList<>();
    int steps;

    @Override
    public void progresses() {
      steps++;
    }

    @Override
    public void trails() {
      outcomes.add("trails");
    }

    @Override
    public void left() {
      outcomes.add("gone");
    }

    @Override
    public void declined(String why) {
      outcomes.add(why);
    }
  }

  private static ChangeBus request(String token) {
    return new ChangeBus(List.of("ws://two/bus"), ChangeReason.DRAIN, 5_000L, token, 2);
  }

  private static byte[] failed(String token, String why) {
    return ControlFrames.encode(TypeCode.CHANGE_BUS_FAILED, new ChangeBusFailed(token, why));
  }

  @Test
  void aClientMovesWhenAsked() {
    welcome();
    RecordingListener hearer = new RecordingListener();
    session.askToMove(request("tok"), hearer);
    assertThat(link.taken()).containsExactly(request("tok"));
    assertThat(hearer.outcomes).isEmpty();
    session.onClosed();
    assertThat(hearer.outcomes).containsExactly("gone");
    session.endMove("tok", "ws://two/bus");
    session.askToMove(request("late"), hearer);
    assertThat(hearer.outcomes).containsExactly("gone", "gone");
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aClientMayDeclineAMove() {
    welcome();
    RecordingListener hearer = new RecordingListener();
    session.askToMove(request("tok"), hearer);
    link.taken();
    handle(failed("another", "x"));
    assertThat(hearer.outcomes).isEmpty();
    handle(failed("tok", "no connection"), failed("tok", "twice"));
    assertThat(hearer.outcomes).containsExactly("no connection");
    assertThat(link.taken()).as("one that nobody asked for is ignored").isEmpty();
    session.endMove("tok", "ws://two/bus");
    assertThat(link.closed).as("it has answered").isEmpty();
    session.askToMove(request("tok2"), hearer);
    assertThat(link.taken()).containsExactly(request("tok2"));
  }

  @Test
  void aClientThatReadsTheRequestAndBeginsToLeaveGetsOn() {
    welcome();
    RecordingListener hearer = new RecordingListener();
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    session.askToMove(request("tok"), hearer);
    assertThat(hearer.steps).isZero();
    Runnable reading = link.reading;
    assertThat(reading).isNotNull();
    reading.run();
    assertThat(hearer.steps).as("it knows").isEqualTo(1);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(2L)));
    assertThat(hearer.steps).isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(hearer.steps).isEqualTo(3);
    handle(failed("tok", "no connection"));
    reading.run();
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(3L)));
    assertThat(hearer.steps).as("it stays").isEqualTo(3);
  }

  @Test
  void notifiesOnceWhenOnlyCallsAreLeft() {
    welcome();
    RecordingListener hearer = new RecordingListener();
    handle(subscribe(1, "a", null));
    session.askToMove(request("tok"), hearer);
    session.onTick(1);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    session.onTick(2);
    assertThat(hearer.outcomes).as("it is subscribed").isEmpty();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    session.onTick(3);
    session.onTick(4);
    assertThat(hearer.outcomes).containsExactly("trails");
    session.onClosed();
    assertThat(hearer.outcomes).containsExactly("trails", "gone");
  }

  @Test
  void asksAClientForOneMoveAtATime() {
    welcome();
    RecordingListener first = new RecordingListener();
    RecordingListener second = new RecordingListener();
    session.askToMove(request("tok"), first);
    session.askToMove(request("tok2"), second);
    assertThat(link.taken()).containsExactly(request("tok"));
    assertThat(second.outcomes).hasSize(1).first().asString().contains("earlier request to move");
    assertThat(first.outcomes).isEmpty();
  }

  @Test
  void closesAClientThatDoesNotMoveWithTheAddress() {
    welcome();
    RecordingListener hearer = new RecordingListener();
    session.askToMove(request("tok"), hearer);
    session.endMove("another", "ws://two/bus");
    assertThat(link.closed).isEmpty();
    session.endMove("tok", "ws://two/bus");
    assertClosed(CloseReason.CHANGE_BUS);
    assertThat(link.closed.get(0).message()).isEqualTo("go on at ws://two/bus");
    assertThat(link.closedWhenWritten).as("it gets what is queued").isTrue();
    assertThat(hearer.outcomes).containsExactly("gone");
  }

  @Test
  void aConnectionWithATokenDoesNotReplaceTheOther() {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = sessions.tokens().issue(grant, Duration.ofSeconds(10));
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null));
    FakeLink other = new FakeLink();
    Session second = new Session(context, other);
    handle(second, hello, 0);
    assertThat(second.producer()).isEqualTo(first.getProducer());
    assertThat(second.moveGrant()).isEqualTo(grant);
    assertThat(session.moveGrant()).isNull();
    assertThat(link.closed).isEmpty();
    assertThat(sessions.after(0)).containsExactly(session, second);
    // The move has failed: a resuming client replaces the first session.
    second.onClosed();
    FakeLink replayed = new FakeLink();
    Session third = new Session(context, replayed);
    handle(third, hello, 0);
    assertThat(((Problem) replayed.taken().get(0)).getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
    assertThat(replayed.closed.get(0).reason()).isEqualTo(CloseReason.UNAUTHENTICATED);
    assertThat(replayed.closed.get(0).message()).contains("used before");
    assertThat(link.closed).isEmpty();
    Session fourth = new Session(context, new FakeLink());
    handle(fourth, hello("s3cret", first.getResume()), 0);
    assertClosed(CloseReason.REPLACED);
    fourth.onClosed();
    third.onClosed();
  }

  @Test
  void bothConnectionsMayEndAtOnce() throws InterruptedException {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = sessions.tokens().issue(grant, Duration.ofSeconds(10));
    Session second = new Session(context, new FakeLink());
    handle(
        second,
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null)),
        0);
    Thread otherLoop = new Thread(() -> sessions.remove(session));
    byNumber.next =
        () -> {
          otherLoop.start();
          while (otherLoop.isAlive() && otherLoop.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
          }
        };
    second.onClosed();
    otherLoop.join();
    assertThat(sessions.size()).isZero();
  }

  @Test
  void theFirstConnectionMayEndBeforeTheSecond() {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = sessions.tokens().issue(grant, Duration.ofSeconds(10));
    FakeLink other = new FakeLink();
    Session second = new Session(context, other);
    handle(
        second,
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null)),
        0);
    session.onClosed();
    assertThat(sessions.after(0)).containsExactly(second);
    Session third = new Session(context, new FakeLink());
    handle(third, hello("s3cret", first.getResume()), 0);
    assertThat(other.closed.get(0).reason()).isEqualTo(CloseReason.REPLACED);
    second.onClosed();
    third.onClosed();
    assertThat(sessions.after(0)).isEmpty();
  }

  @Test
  void aTokenWithoutAResumeIsNobodys() {
    String token =
        sessions.tokens().issue(new MoveTokens.Grant(0, "one", 1), Duration.ofSeconds(10));
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", "s3cret", null, Map.of(), token, null, null)));
    assertClosed(CloseReason.UNAUTHENTICATED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "A",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAä"
      })
  void aResumeThatNoBusGaveIsRefused(String resume) {
    handle(hello("s3cret", resume));
    assertThat(problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "").getMessage())
        .contains("Welcome.resume");
    assertClosed(CloseReason.UNAUTHENTICATED);
    assertThat(session.isWelcomed()).isFalse();
  }

  @Test
  void aWrongTokenIsRefusedAndNotRepeated() {
    handle(hello("guess", null));
    assertThat(problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "").getMessage())
        .contains("the credentials in Hello")
        .doesNotContain("guess")
        .doesNotContain("s3cret");
    assertClosed(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void noTokenIsRefused() {
    handle(hello(null, null));
    problem(ErrorCode.UNAUTHENTICATED, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.UNAUTHENTICATED);
  }

  @Test
  void aBusWithoutATokenLetsEverybodyIn() {
    FakeLink open = new FakeLink();
    Session free = new Session(context(null), open);
    handle(free, hello("whatever", null), 0);
    assertThat(open.taken()).first().isInstanceOf(Welcome.class);
    free.onClosed();
  }

  @Test
  void theFirstFrameMustBeHello() {
    handle(subscribe(1, "a", null), hello("s3cret", null));
    assertThat(problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.SUBSCRIBE, 0, "").getMessage())
        .contains("expected: 0, Hello");
    assertClosed(CloseReason.PROTOCOL_ERROR);
    assertThat(session.isWelcomed()).as("what follows is not handled").isFalse();
  }

  @Test
  void aSecondHelloEndsIt() {
    welcome();
    handle(hello("s3cret", null));
    problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.PROTOCOL_ERROR);
    assertThat(sessions.find(1)).isNull();
  }

  @ParameterizedTest
  @EnumSource(
      value = TypeCode.class,
      names = {"CHANGE_BUS", "DELIVER", "WELCOME", "PROBLEM", "CONFIRM", "GAP", "DRAINED"})
  void framesOfABusAreAViolation(TypeCode type) {
    welcome();
    byte[] gap = ControlFrames.encode(TypeCode.GAP, new Gap("t", 1L, 1L, 1L, GapReason.QUEUE_FULL));
    gap[0] = (byte) (type.code() * 2);
    handle(gap);
    problem(ErrorCode.PROTOCOL_VIOLATION, type, 0, "");
    assertClosed(CloseReason.PROTOCOL_ERROR);
  }

  @Test
  void anUnknownTypeIsSkipped() {
    welcome();
    // Type code 40, a body of two bytes.
    handle(new byte[] {80, 4, 1, 2}, subscribe(1, "a", null));
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(2);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.UNKNOWN_TYPE);
    assertThat(problem.getTypeCode()).isEqualTo(40);
    assertThat(problem.getMessage()).contains("(expected: 0..13, 20..28, 31..33)");
    assertThat(sent.get(1)).isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L));
    assertThat(link.closed).isEmpty();
  }

  @Test
  void brokenBytesEndItAndNameNoTypeThatWasNotRead() {
    welcome();
    handle(subscribe(1, "a", null));
    link.taken();
    // An endless type code after a valid frame.
    handle(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    assertThat(((Problem) sent.get(0)).getCode()).isEqualTo(ErrorCode.MALFORMED);
    assertThat(((Problem) sent.get(0)).getTypeCode()).isEqualTo(-1);
    assertClosed(CloseReason.MALFORMED);
  }

  @Test
  void aBodyThatIsCutOffIsMalformed() {
    welcome();
    byte[] whole = SampleFrames.publish("t", 1, true, "payload");
    whole[whole.length - 9] = 127;
    handle(whole);
    problem(ErrorCode.MALFORMED, TypeCode.PUBLISH, 0, "");
    assertClosed(CloseReason.MALFORMED);
  }

  @Test
  void aBodyBeyondTheMessageIsMalformed() {
    welcome();
    handle(new byte[] {2, 100, 0});
    problem(ErrorCode.MALFORMED, TypeCode.PUBLISH, 0, "");
    assertClosed(CloseReason.MALFORMED);
  }

  @Test
  void aPublishIsRoutedStampedAndConfirmed() {
    Welcome welcome = welcome();
    handle(subscribe(1, "a.*", null));
    handle(SampleFrames.publish("a.b", 5, true, "x", "y", "z"));
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L),
            new Confirm(TypeCode.PUBLISH.code(), 7L, "a.b", 1L));
    assertThat(link.subscriber.got).hasSize(1);
    SampleFrames.Delivered d = link.subscriber.got.get(0);
    assertThat(d.producer()).isEqualTo(welcome.getProducer());
    assertThat(d.sequence()).isEqualTo(5);
    assertThat(d.payloads()).containsExactly("x", "y", "z");
    assertThat(d.receivedAt()).isEqualTo(NOW.getEpochSecond() * 1_000_000 + 123_456);
    assertThat(session.published()).isEqualTo(3);
    handle(SampleFrames.publish("a.b", 8, false, "w"));
    assertThat(link.taken()).as("not asked for").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a..b", ".a", "a.", "a b", "a.*", "a.>", "$SYS.x", "", "a\u0001"})
  void anIllegalTopicIsRefusedAndTheNextFrameIsHandled(String topic) {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish(topic, 9, true, "x", "y"));
    problem(ErrorCode.ILLEGAL_TOPIC, TypeCode.PUBLISH, 9, topic);
    handle(SampleFrames.publish("fine", 1, true, "x"));
    assertThat(link.taken()).containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "fine", 1L));
    assertThat(link.subscriber.got).hasSize(1);
    assertThat(session.published()).isEqualTo(1);
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aPayloadOverTheLimitIsRefusedWithItsWholeFrame() {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish("t", 3, true, "fits", "x".repeat(1001)));
    assertThat(problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 3, "t").getMessage())
        .contains("1001")
        .contains("1000");
    assertThat(link.subscriber.got).isEmpty();
    handle(SampleFrames.publish("t", 3, true, "x".repeat(1000)));
    assertThat(link.subscriber.got).hasSize(1);
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aTopicThatIsTooLongIsRefusedAndTheNextFrameIsHandled() {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish("t".repeat(256), 7, true, "x"));
    assertThat(
            problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 7, "t".repeat(252) + "\u2026")
                .getMessage())
        .isEqualTo("Publish.topic length: 256 at byte 0 (expected: at most 255)");
    // The truncation does not split a character.
    handle(SampleFrames.publish("t" + "\u00e9".repeat(200), 8, true, "x"));
    problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 8, "t" + "\u00e9".repeat(125) + "\u2026");
    assertThat(link.closed).isEmpty();
    handle(SampleFrames.publish("t".repeat(255), 7, true, "x"));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 7L, "t".repeat(255), 1L));
    assertThat(link.subscriber.got).hasSize(1);
  }

  @Test
  void refusesASingleFrameThatIsTooLong() {
    welcome();
    String longest = "t".repeat(255);
    handle(
        subscribe(1, longest + "t", null),
        subscribe(2, "a", longest + "t"),
        ControlFrames.encode(TypeCode.ACK, new Ack(longest + "t", 1L, 1L)),
        subscribe(3, longest, null));
    assertThat(link.closed).isEmpty();
    List<Object> sent = link.taken();
    assertThat(sent.subList(0, 3))
        .allSatisfy(frame -> assertThat(((Problem) frame).getCode()).isEqualTo(ErrorCode.TOO_BIG));
    assertThat(sent.subList(0, 3))
        .extracting(frame -> ((Problem) frame).getAbout())
        .containsExactly(1L, 2L, 0L);
    assertThat(sent.subList(0, 3))
        .extracting(frame -> ((Problem) frame).getTypeCode())
        .containsExactly(2, 2, 5);
    assertThat(sent.get(3)).isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 3L, "", -1L));
  }

  @Test
  void aHelloThatIsTooLongEndsIt() {
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("c".repeat(256), "a", "s3cret", null, Map.of(), null, null, null)));
    problem(ErrorCode.TOO_BIG, TypeCode.HELLO, 0, "");
    assertClosed(CloseReason.TOO_BIG);
  }

  @Test
  void anEchoComesBackAtOnce() {
    welcome();
    handle(
        ControlFrames.encode(TypeCode.ECHO, new Echo(7L)),
        ControlFrames.encode(TypeCode.ECHO, new Echo(-7L)));
    assertThat(link.taken()).containsExactly(new Echo(7L), new Echo(-7L));
  }

  @Test
  void aCreditForAllDeliveriesIsPassedOnAndNotAnswered() {
    welcome();
    handle(credit(0, 100), credit(0, 0));
    assertThat(link.limits).containsExactly(100L, 0L);
    assertThat(link.taken()).isEmpty();
  }

  @Test
  void aCreditForATunnelThatHasEndedIsIgnored() {
    welcome();
    handle(credit(5, 100), credit(0, 7));
    assertThat(link.taken()).isEmpty();
    assertThat(link.limits).containsExactly(7L);
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aCreditOfLessThanNothingIsMalformed() {
    welcome();
    handle(credit(0, -1));
    Problem problem = problem(ErrorCode.MALFORMED, TypeCode.CREDIT, 0, "");
    assertThat(problem.getMessage()).isEqualTo("Credit.limit: -1 at byte 1 (expected: at least 0)");
    assertThat(link.limits).isEmpty();
    assertClosed(CloseReason.MALFORMED);
  }

  private static byte[] credit(long call, long limit) {
    return ControlFrames.encode(TypeCode.CREDIT, new Credit(call, limit, 0L));
  }

  @Test
  void anEchoIsNotTheFirstFrame() {
    handle(ControlFrames.encode(TypeCode.ECHO, new Echo(7L)));
    problem(ErrorCode.PROTOCOL_VIOLATION, TypeCode.ECHO, 0, "");
    assertClosed(CloseReason.PROTOCOL_ERROR);
  }

  @Test
  void echoesWaitUntilTheClientHasReadItsAnswers() {
    welcome();
    byte[] echo = ControlFrames.encode(TypeCode.ECHO, new Echo(7L));
    link.full = true;
    assertThat(handle(session, echo, 0)).isZero();
    assertThat(link.taken()).isEmpty();
    link.full = false;
    assertThat(handle(session, echo, 0)).isEqualTo(echo.length);
    assertThat(link.taken()).containsExactly(new Echo(7L));
  }

  @Test
  void anIdThatIsUsedAgainBeforeItsDrainedHasADrainedForEachUnsubscribe() {
    welcome();
    handle(
        subscribe(1, "a", null),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)),
        subscribe(1, "b", null),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    link.taken();
    loops.runAll();
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
    assertThat(index.size()).isEqualTo(SUBSCRIPTIONS);
    assertThat(link.closed).isEmpty();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(5L)));
    handle(subscribe(7, "c", null));
    assertThat(link.taken()).last().isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 7L, "", -1L));
  }

  @Test
  void aClientOfThisMachineMayObserve() {
    welcome();
    handle(subscribe(1, "$SYS.>", null));
    assertThat(link.taken()).containsExactly(new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L));
  }

  @Test
  void reportsConnectsAndDisconnectsToObservers() {
    List<Advisory> told = new ArrayList<>();
    context.bus().advisories().listen(told::add);
    handle(hello("wrong", null));
    session.onClosed();
    assertThat(told).as("not let in").isEmpty();
    FakeLink other = new FakeLink();
    Session welcomed = new Session(context, other);
    byte[] hello = hello("s3cret", null);
    welcomed.onMessage(ByteBuffer.wrap(hello), 0, hello.length, 1, () -> {});
    Advisory.ClientConnected connected =
        new Advisory.ClientConnected(
            1, other.remoteAddress(), welcomed.id(), "client", "agent/1", "", "", "shared_token");
    assertThat(told).containsExactly(connected);
    byte[] publish = SampleFrames.publish("t", 1, false, "x", "y");
    welcomed.onMessage(ByteBuffer.wrap(publish), 0, publish.length, 2, () -> {});
    welcomed.onClosed();
    welcomed.onClosed();
    assertThat(told)
        .containsExactly(
            connected,
            new Advisory.ClientDisconnected(
                1, other.remoteAddress(), welcomed.id(), "client", "", NOW, 2, other.delivered()));
  }

  @Test
  void equalSubscriptionsAreOneToTheIndexUntilTheLastHasGone() {
    welcome();
    handle(subscribe(1, "a.*", null), subscribe(2, "a.*", null), subscribe(3, "a.*", "g"));
    assertThat(link.taken()).hasSize(3);
    assertThat(session.subscriptions().size()).isEqualTo(3);
    assertThat(index.size()).as("one without and one with a group").isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(index.size()).isEqualTo(2);
    assertThat(index.subscribers("a.b")).isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    assertThat(index.size()).isEqualTo(1);
    handle(
        subscribe(4, "a.*", "g"), ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(3L)));
    link.taken();
    handle(SampleFrames.publish("a.b", 1, false, "x"));
    assertThat(link.subscriber.got).hasSize(1);
    assertThat(link.subscriber.got.get(0).groups()).as("the one that is left").containsExactly(4L);
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
    assertThat(link.taken()).last().isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 3L, "", -1L));
  }

  @Test
  void theSubscriptionsOfAllConnectionsHaveABound() {
    welcome();
    List<RoutedSubscription> filled = new ArrayList<>();
    for (long id = 1; index.bytes() < SUBSCRIPTION_BYTES; id++) {
      TopicFilter filter = TopicFilter.parse("a." + id);
      RoutedSubscription subscription =
          new RoutedSubscription(link.subscriber, id, filter, null, Overflow.BLOCK);
      index.keep(subscription);
      index.add(subscription);
      filled.add(subscription);
    }
    assertThat(filled).hasSizeGreaterThan(4);
    handle(subscribe(1, "a", null));
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SUBSCRIBE, 1, "").getMessage())
        .contains("the bus has all the subscriptions")
        .contains("at most " + SUBSCRIPTION_BYTES);
    assertThat(link.closed).isEmpty();
    filled.forEach(index::remove);
    filled.forEach(index::release);
  }

  @Test
  void unsubscribeIsConfirmedAndLaterDrained() {
    welcome();
    handle(subscribe(1, "a", null), subscribe(2, "a", null));
    link.taken();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken()).containsExactly(new Confirm(TypeCode.UNSUBSCRIBE.code(), 1L, "", -1L));
    loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
    handle(SampleFrames.publish("a", 1, false, "x"));
    assertThat(link.subscriber.got).as("the other one is still there").hasSize(1);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.UNSUBSCRIBE, 1, "");
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    handle(SampleFrames.publish("a", 2, false, "x"));
    assertThat(link.subscriber.got).hasSize(1);
    assertThat(session.subscriptions().size()).isZero();
  }

  @Test
  void drainedIsNotToldToAClosedConnection() {
    welcome();
    handle(subscribe(1, "a", null));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    link.taken();
    session.close(CloseReason.NORMAL, "");
    loops.runAll();
    assertThat(link.taken()).isEmpty();
  }

  @Test
  void aBarrierComesBackBehindWhatWasSentBefore() {
    welcome();
    handle(
        SampleFrames.publish("a", 1, true, "x"),
        ControlFrames.encode(TypeCode.BARRIER, new Barrier(-7L)));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "a", 0L), new Barrier(-7L));
  }

  @Test
  void acknowledgementsOfLongTopicsAreFewer() {
    welcome();
    long before = ReachableHeap.bytes(session.acknowledgements());
    for (int i = 0; i < 100; i++) {
      handle(ControlFrames.encode(TypeCode.ACK, new Ack("x".repeat(250) + i, 1L, 5L)));
    }
    long kept = ReachableHeap.bytes(session.acknowledgements()) - before;
    assertThat(session.acknowledgements().latest())
        .hasSize(2048 / 252)
        .containsKey(new Acknowledgements.Stream("x".repeat(250) + 99, 1));
    assertThat(memory.used()).isBetween(2000L, 5000L).isBetween(kept, 2 * kept);
  }

  @Test
  void attributesAreTheBussMemoryWhileTheSessionLives() {
    Map<String, String> attributes = Map.of("zone", "eu-1", "rack", "é".repeat(100));
    handle(
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("c", "a", "s3cret", null, attributes, null, null, null)));
    assertThat(session.identity().attributes()).isEqualTo(attributes);
    assertThat(memory.used()).isBetween(300L, 600L);
  }

  @Test
  void acknowledgementsAreBoundedAndTheHighestCounts() {
    welcome();
    for (int i = 0; i < 1000; i++) {
      handle(ControlFrames.encode(TypeCode.ACK, new Ack("t" + i, 1L, 5L)));
    }
    handle(ControlFrames.encode(TypeCode.ACK, new Ack("t999", 1L, 9L)));
    handle(ControlFrames.encode(TypeCode.ACK, new Ack("t999", 1L, 3L)));
    assertThat(link.taken()).isEmpty();
    assertThat(session.acknowledgements().count()).isEqualTo(1002);
    assertThat(session.acknowledgements().latest())
        .hasSize(16)
        .containsEntry(new Acknowledgements.Stream("t999", 1), 9L)
        .containsKey(new Acknowledgements.Stream("t984", 1))
        .doesNotContainKey(new Acknowledgements.Stream("t983", 1));
    assertThat(counters.loops().get(0).acks.get()).isEqualTo(1002);
    assertThat(memory.used()).isBetween(16 * 100L, 16 * 250L);
  }

  @Test
  void aPublisherWaitsInTheMiddleOfAMessageAndGoesOnThere() {
    welcome();
    handle(subscribe(1, "slow", null));
    link.taken();
    byte[] first = SampleFrames.publish("fast", 1, true, "x");
    byte[] second = SampleFrames.publish("slow", 1, true, "y");
    byte[] third = SampleFrames.publish("slow", 2, true, "z");
    byte[] message = message(first, second, third);
    link.subscriber.full(true);
    int at = handle(session, message, 0);
    assertThat(at).isEqualTo(first.length);
    assertThat(session.awaitsRoom()).isTrue();
    assertThat(link.taken()).containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "fast", 0L));
    assertThat(counters.loops().get(0).publishersStopped.get()).isEqualTo(1);
    assertThat(retries).hasValue(0);
    // Called without need: it still has to wait, and has a new retry.
    assertThat(handle(session, message, at)).isEqualTo(at);
    link.subscriber.full(false);
    assertThat(retries.get()).isPositive();
    assertThat(handle(session, message, at)).isEqualTo(message.length);
    assertThat(session.awaitsRoom()).isFalse();
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.PUBLISH.code(), 1L, "slow", 1L),
            new Confirm(TypeCode.PUBLISH.code(), 2L, "slow", 1L));
    assertThat(link.subscriber.got)
        .extracting(SampleFrames.Delivered::sequence)
        .containsExactly(1L, 2L);
    assertThat(session.published()).isEqualTo(3);
  }

  @Test
  void aMessageOfManyFramesTakesMoreThanOneTurn() {
    welcome();
    int frames = 20_000;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 1; i <= frames; i++) {
      bytes.writeBytes(SampleFrames.publish("t", i, false, ""));
    }
    byte[] message = bytes.toByteArray();
    int at = handle(session, message, 0);
    assertThat(at).isPositive().isLessThan(message.length);
    assertThat(link.turns).hasSize(1);
    assertThat(session.published()).isLessThan(frames);
    // Retried too early: it only waits.
    assertThat(handle(session, message, at)).isEqualTo(at);
    int turns = 1;
    while (at < message.length) {
      context.budget().renew();
      at = handle(session, message, at);
      turns++;
    }
    assertThat(turns).isLessThan(10);
    assertThat(session.published()).isEqualTo(frames);
  }

  @Test
  void aFrameForManySubscribersCountsForAsMuch() {
    welcome();
    List<RoutedSubscription> many = new ArrayList<>();
    for (int i = 0; i < 700; i++) {
      many.add(
          new RoutedSubscription(
              new FakeSubscriber(0), i, TopicFilter.parse("t"), null, Overflow.BLOCK));
    }
    many.forEach(index::add);
    byte[] frame = SampleFrames.publish("t", 1, false, "");
    byte[] message = message(frame, frame, frame, frame, frame);
    int at = handle(session, message, 0);
    assertThat(at).isEqualTo(3 * frame.length);
    context.budget().renew();
    assertThat(handle(session, message, at)).isEqualTo(message.length);
    many.forEach(index::remove);
  }

  @Test
  void doesNotServeAClientWithUnreadAnswers() {
    welcome();
    byte[] message = message(subscribe(1, "a", null), subscribe(2, "b", null));
    link.full = true;
    assertThat(handle(session, message, 0)).isZero();
    assertThat(link.taken()).isEmpty();
    assertThat(link.retry).isNotNull();
    link.full = false;
    assertThat(handle(session, message, 0)).isEqualTo(message.length);
    assertThat(link.taken()).hasSize(2);
  }

  @Test
  void closingTwiceIsClosingOnce() {
    welcome();
    handle(subscribe(1, "a", null));
    session.close(CloseReason.IDLE, "one");
    session.close(CloseReason.NORMAL, "two");
    session.onClosed();
    session.onClosed();
    assertThat(link.closed).containsExactly(new FakeLink.Closed(CloseReason.IDLE, "one"));
    assertThat(index.size()).isZero();
    assertThat(session.isWelcomed()).as("also after the end").isTrue();
    byte[] late = SampleFrames.publish("a", 1, true, "x");
    assertThat(handle(session, late, 0)).isEqualTo(late.length);
    assertThat(session.published()).isZero();
  }

  @Test
  void aSessionThatWasNeverWelcomedEndsToo() {
    session.onClosed();
    session.onClosed();
    byte[] late = hello("s3cret", null);
    assertThat(handle(session, late, 0)).isEqualTo(late.length);
    assertThat(session.isWelcomed()).isFalse();
  }

  @Test
  void aLongMessageOfAProblemIsCut() {
    welcome();
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      tokens.add("t");
    }
    handle(subscribe(1, String.join(".", tokens), null));
    assertThat(problem(ErrorCode.ILLEGAL_FILTER, TypeCode.SUBSCRIBE, 1, "").getMessage())
        .hasSizeLessThan(FrameLimits.MAX_KEY_BYTES)
        .contains("16");
  }

  @ParameterizedTest
  @EnumSource
  void aSessionGoesOnlyAlongItsArrows(SessionState from) {
    for (SessionState to : SessionState.values()) {
      boolean leapsIntoOpen = from == SessionState.AWAITING_HELLO && to == SessionState.OPEN;
      boolean legal = from.compareTo(to) < 0 && !leapsIntoOpen;
      if (legal) {
        assertThat(from.to(to)).isEqualTo(to);
      } else {
        assertThatThrownBy(() -> from.to(to)).isInstanceOf(IllegalStateException.class);
      }
    }
  }
}
