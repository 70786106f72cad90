package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.security.Principal;
import io.eventbus.server.subscription.LocalSubscriptions;
import io.eventbus.server.subscription.RoutedSubscription;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers of a session that depend on peers. */
class SessionInClusterTest {
  private final List<String> announcedToPeers = new ArrayList<>();
  private final FakePeers peers = new FakePeers();
  private final Deque<Consumer<Boolean>> stored = new ArrayDeque<>();
  private boolean storedAtOnce = true;
  private final SessionFixture bus =
      new SessionFixture(
              Clock.systemUTC(),
              TestAccess.open(),
              new Sessions("bus", Clock.systemUTC(), List::of, TestResumes.KEY))
          .cluster(peers)
          .stored(this::whenDelivered);
  private final FakeLink link = new FakeLink();
  private final Session session = link.session(bus.context());

  private void whenDelivered(int loop, String account, TopicFilter filter, Consumer<Boolean> done) {
    assertThat(account + "/" + filter).isEqualTo("/t");
    if (storedAtOnce) {
      done.accept(true);
    } else {
      stored.add(done);
    }
  }

  /** Interest that peers would be told of. */
  private final class AnnouncedInterest implements LocalSubscriptions {
    @Override
    public void added(RoutedSubscription s) {
      announcedToPeers.add("added " + s.id());
    }

    @Override
    public void withdrawn(RoutedSubscription s) {
      announcedToPeers.add("withdrawn " + s.id());
    }

    @Override
    public void removed(RoutedSubscription s) {
      announcedToPeers.add("removed " + s.id());
    }
  }

  /** Peers that answer under control of the test. */
  private static final class FakePeers implements ClusterGuarantees {
    final Deque<Consumer<Boolean>> known = new ArrayDeque<>();
    final Deque<Consumer<Boolean>> arrived = new ArrayDeque<>();
    final Deque<Consumer<Boolean>> reached = new ArrayDeque<>();
    @Nullable String refusal;
    @Nullable InterestShare interest;
    LongPredicate isLaneLocal = producer -> true;

    @Override
    public boolean isLaneLocal(int loop, long producer) {
      return isLaneLocal.test(producer);
    }

    @Override
    public boolean isAlone() {
      return false;
    }

    @Override
    public @Nullable String refuse(
        String account, String filter, @Nullable String group, InterestShare share) {
      interest = share;
      return refusal;
    }

    @Override
    public void whenInterestPropagated(int loop, Consumer<Boolean> done) {
      known.add(done);
    }

    @Override
    public void whenInboundDelivered(int loop, Consumer<Boolean> done) {
      arrived.add(done);
    }

    @Override
    public void whenPublishedDelivered(int loop, long producer, Consumer<Boolean> done) {
      reached.add(done);
    }

    @Override
    public boolean dropLargestBacklog() {
      return false;
    }
  }

  @BeforeEach
  void welcome() {
    bus.index.onLocalChange(new AnnouncedInterest());
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", null, null, Map.of(), null, null, null)));
    assertThat(link.taken()).hasSize(1);
  }

  private void handle(byte[] frame) {
    handle(session, frame);
  }

  private static void handle(Session session, byte[] frame) {
    assertThat(session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, 77, () -> {}))
        .isEqualTo(frame.length);
  }

  private void subscribe(long id) {
    handle(ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, "t", null, Overflow.BLOCK)));
  }

  private void unsubscribe(long id) {
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id)));
  }

  private static Confirm confirm(TypeCode type, long id) {
    return new Confirm(type.code(), id, "", -1L, 0L, false, 0L);
  }

  @Test
  void countsInterestForTheConnectionAndItsAddress() {
    subscribe(1);
    subscribe(2);
    InterestShare share = peers.interest;
    assertThat(share).isNotNull();
    assertThat(share.filters()).isEqualTo(2);
    peers.refusal = "too many";
    subscribe(3);
    peers.refusal = null;
    assertThat(share.filters()).as("a refused one").isEqualTo(2);
    handle(
        ControlFrames.encode(
            TypeCode.REGISTER,
            new Register(4L, "room", 1, false, "", Map.of(), Overflow.DROP_OLDEST)));
    assertThat(share.filters()).as("a service counts twice").isEqualTo(4);
    assertThat(link.interest).isEqualTo(4);

    unsubscribe(1);
    peers.arrived.forEach(done -> done.accept(true));
    assertThat(share.filters()).isEqualTo(3);
    session.onClosed();
    assertThat(share.filters()).isZero();
    assertThat(link.interest).isZero();
  }

  @Test
  void aSubscriptionIsConfirmedWhenAllKnowIt() {
    subscribe(1);
    assertThat(bus.index.size()).as("in force here").isEqualTo(1);
    assertThat(link.taken()).isEmpty();
    peers.known.remove().accept(true);
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SUBSCRIBE, 1));
  }

  @Test
  void confirmsASubscriptionAlsoWithoutAnAnswerOfAPeer() {
    subscribe(1);
    peers.known.remove().accept(false);
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SUBSCRIBE, 1));
  }

  @Test
  void aSubscriptionStaysUntilWhatOthersHaveSentIsHere() {
    subscribe(1);
    peers.known.remove().accept(true);
    link.taken();
    unsubscribe(1);
    assertThat(link.taken()).containsExactly(confirm(TypeCode.UNSUBSCRIBE, 1));
    bus.loops.runAll();
    assertThat(bus.index.size()).as("still in force").isEqualTo(1);
    assertThat(link.taken()).isEmpty();
    peers.arrived.remove().accept(true);
    assertThat(bus.index.size()).isZero();
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
  }

  @Test
  void aSubscriptionStaysUntilWhatIsStoredIsDelivered() {
    storedAtOnce = false;
    subscribe(1);
    peers.known.remove().accept(true);
    unsubscribe(1);
    link.taken();
    peers.arrived.remove().accept(true);
    bus.loops.runAll();
    assertThat(bus.index.size()).as("still in force").isEqualTo(1);
    assertThat(link.taken()).isEmpty();
    stored.remove().accept(true);
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
  }

  private void join(long id) {
    handle(ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, "t", "g", Overflow.BLOCK)));
  }

  @Test
  void aMemberOfAGroupStaysUntilNobodyChoosesIt() {
    join(1);
    peers.known.remove().accept(true);
    unsubscribe(1);
    assertThat(peers.arrived).as("others may still choose it").isEmpty();
    assertThat(announcedToPeers).containsExactly("added 1", "withdrawn 1");
    peers.known.remove().accept(true);
    assertThat(bus.index.size()).as("still in force").isEqualTo(1);
    peers.arrived.remove().accept(true);
    assertThat(bus.index.size()).isZero();
    assertThat(announcedToPeers).containsExactly("added 1", "withdrawn 1", "removed 1");
  }

  @Test
  void aMemberIsNotWithdrawnWhileItsEqualStays() {
    join(1);
    join(2);
    unsubscribe(1);
    assertThat(announcedToPeers).containsExactly("added 1");
    unsubscribe(2);
    assertThat(announcedToPeers).containsExactly("added 1", "withdrawn 1");
    join(3);
    assertThat(announcedToPeers).containsExactly("added 1", "withdrawn 1", "added 3", "removed 1");
    peers.known.forEach(known -> known.accept(true));
    peers.arrived.forEach(arrived -> arrived.accept(true));
    assertThat(bus.index.size()).isEqualTo(1);
    assertThat(announcedToPeers).hasSize(4);
  }

  @Test
  void theLastOfEqualMembersIsNotAnnouncedAgain() {
    join(1);
    join(2);
    unsubscribe(1);
    unsubscribe(2);
    peers.known.forEach(known -> known.accept(true));
    peers.arrived.remove().accept(true);
    assertThat(announcedToPeers)
        .containsExactly("added 1", "withdrawn 1", "added 2", "withdrawn 2", "removed 1");
    peers.arrived.remove().accept(true);
    assertThat(bus.index.size()).isZero();
  }

  @Test
  void confirmsBeforeTheEnd() {
    subscribe(1);
    unsubscribe(1);
    assertThat(link.taken())
        .containsExactly(confirm(TypeCode.SUBSCRIBE, 1), confirm(TypeCode.UNSUBSCRIBE, 1));
    peers.known.remove().accept(true);
    assertThat(link.taken()).as("once").isEmpty();
    // The number may be used again at once.
    subscribe(1);
    peers.arrived.remove().accept(true);
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
    assertThat(bus.index.size()).isEqualTo(1);
    peers.known.remove().accept(true);
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SUBSCRIBE, 1));
  }

  @Test
  void answersToASessionThatHasEndedGoNowhere() {
    subscribe(1);
    subscribe(2);
    peers.known.getLast().accept(true);
    unsubscribe(2);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(5L)));
    link.taken();
    session.onClosed();
    peers.known.getFirst().accept(true);
    peers.arrived.remove().accept(true);
    peers.reached.remove().accept(true);
    bus.loops.runAll();
    assertThat(link.taken()).isEmpty();
    assertThat(bus.index.size()).isZero();
    assertThat(bus.index.bytes()).isZero();
    assertThat(bus.memory.used()).isZero();
  }

  private Welcome hello(@Nullable String resume) {
    FakeLink to = new FakeLink();
    Session made = to.session(bus.context());
    handle(
        made,
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", null, resume, Map.of(), null, null, null)));
    return (Welcome) to.taken().get(0);
  }

  @Test
  void aNewClientGetsALaneLocalNumber() {
    // A quarter of the producers, as with four bus.loops.
    peers.isLaneLocal = producer -> producer % 4 == 3;
    for (int i = 0; i < 20; i++) {
      assertThat(hello(null).getProducer() % 4).isEqualTo(3);
    }
    String resume = TestResumes.of(1);
    peers.isLaneLocal = producer -> false;
    assertThat(hello(resume).getProducer()).isEqualTo(Resume.producer(resume, Principal.UNKNOWN));
    assertThat(hello(null).getResume()).as("one all the same").hasSize(43);
  }

  @Test
  void aBarrierIsAnsweredWhenAllHaveEverything() {
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(5L)));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(6L)));
    assertThat(link.taken()).isEmpty();
    peers.reached.remove().accept(true);
    assertThat(link.taken()).containsExactly(new Barrier(5L));
    peers.reached.remove().accept(false);
    Problem problem = (Problem) link.taken().get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(problem.getRetryable()).isTrue();
    assertThat(problem.getAbout()).isEqualTo(6);
    assertThat(problem.getTypeCode()).isEqualTo(TypeCode.BARRIER.code());
  }

  @Test
  void barriersDuringAQueryShareTheNext() {
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(2L)));
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(3L)));
    assertThat(peers.reached).hasSize(1);
    peers.reached.remove().accept(true);
    assertThat(link.taken()).containsExactly(new Barrier(1L));
    assertThat(peers.reached).hasSize(1);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(4L)));
    peers.reached.remove().accept(true);
    assertThat(link.taken()).containsExactly(new Barrier(2L), new Barrier(3L));
    peers.reached.remove().accept(true);
    assertThat(link.taken()).containsExactly(new Barrier(4L));
    assertThat(peers.reached).isEmpty();
  }

  @Test
  void barriersThatWaitAreBounded() {
    for (long id = 1; id <= SessionBarriers.MAX_WAITING + 1; id++) {
      handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(id)));
    }
    Problem problem = (Problem) link.taken().get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(problem.getAbout()).isEqualTo(SessionBarriers.MAX_WAITING + 1);
    peers.reached.remove().accept(true);
    peers.reached.remove().accept(true);
    assertThat(link.taken()).hasSize(SessionBarriers.MAX_WAITING);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(9L)));
    peers.reached.remove().accept(true);
    assertThat(link.taken()).containsExactly(new Barrier(9L));
  }

  @Test
  void sendsAMovingClientBackWhenAPeerDoesNotKnowItsSubscriptions() {
    String resume = TestResumes.of(1);
    String token =
        bus.sessions
            .tokens()
            .issue(
                new MoveTokens.Grant(Resume.producer(resume, Principal.UNKNOWN), "one", 1),
                Duration.ofHours(1));
    FakeLink there = new FakeLink();
    Session isMovingHere = there.session(bus.context());
    Hello hello = new Hello("client", "agent/1", null, resume, Map.of(), token, null, null);
    handle(isMovingHere, ControlFrames.encode(TypeCode.HELLO, hello));
    assertThat(isMovingHere.moveGrant()).isNotNull();
    there.taken();
    // An Echo and a Credit do not complete the move.
    handle(isMovingHere, ControlFrames.encode(TypeCode.ECHO, new Echo(9L)));
    assertThat(there.taken()).containsExactly(new Echo(9L));
    handle(isMovingHere, ControlFrames.encode(TypeCode.CREDIT, new Credit(0L, 9L, 0L, 0L)));
    Subscribe request = new Subscribe(1L, "t", null, Overflow.BLOCK);
    handle(isMovingHere, ControlFrames.encode(TypeCode.SUBSCRIBE, request));
    peers.known.remove().accept(false);
    assertThat(bus.index.size()).isZero();
    bus.loops.runAll();
    Problem problem = (Problem) there.taken().get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(problem.getRetryable()).isTrue();
    assertThat(problem.getAbout()).isEqualTo(1);
    assertThat(problem.getTypeCode()).isEqualTo(TypeCode.SUBSCRIBE.code());
    assertThat(isMovingHere.subscriptions().size()).isZero();
    // Once the move is complete it prefers events to a refusal, as any other client.
    handle(isMovingHere, ControlFrames.encode(TypeCode.BARRIER, new Barrier(5L)));
    handle(isMovingHere, ControlFrames.encode(TypeCode.SUBSCRIBE, request));
    peers.known.remove().accept(false);
    assertThat(there.taken()).containsExactly(confirm(TypeCode.SUBSCRIBE, 1));
  }

  /** Listener that ignores the outcome of a move. */
  private static final class IgnoringListener implements MoveListener {
    @Override
    public void progresses() {}

    @Override
    public void left() {}

    @Override
    public void declined(String why) {}
  }

  private void askToMove() {
    session.askToMove(
        new ChangeBus(List.of("ws://two/bus"), ChangeReason.OVERLOAD, 1_000L, "tok", 1),
        new IgnoringListener());
    link.taken();
  }

  @Test
  void aMovingClientDoesNotLeaveBeforeEverythingIsHere() {
    subscribe(1);
    askToMove();
    unsubscribe(1);
    link.taken();
    peers.arrived.remove().accept(false);
    bus.loops.runAll();
    assertThat(link.taken()).isEmpty();
    assertThat(bus.index.size()).as("still in force").isEqualTo(1);
    peers.arrived.remove().accept(true);
    bus.loops.runAll();
    assertThat(link.taken()).containsExactly(new Drained(1L));
  }

  @Test
  void aClientThatOnlyReadsIsClosedAtTheEndOfItsTime() {
    subscribe(1);
    askToMove();
    link.queued = 100;
    session.endMove("tok", "ws://two/bus");
    assertThat(link.closed).as("it has not left").hasSize(1);
  }

  @Test
  void aClientThatHasLeftReadsTheRestOfItsQueue() {
    subscribe(1);
    askToMove();
    unsubscribe(1);
    link.queued = 100;
    session.endMove("tok", "ws://two/bus");
    assertThat(link.closed).isEmpty();
    link.queued = 0;
    session.endMove("tok", "ws://two/bus");
    assertThat(link.closed).hasSize(1);
  }

  @Test
  void aFilterTooManyIsRefused() {
    peers.refusal = "too many";
    subscribe(1);
    Problem problem = (Problem) link.taken().get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    assertThat(bus.index.size()).isZero();
  }
}
