package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Clients that move to this bus, and to another. */
class SessionMoveTest extends SessionTestCase {
  @Test
  void aTokenIsNotTakenFromWhoHasMadeUpTheResume() {
    String chosen = "A".repeat(43);
    MoveTokens.Grant grant =
        new MoveTokens.Grant(Resume.producer(chosen, Principal.UNKNOWN), "one", 1);
    String token = bus.sessions.tokens().issue(grant, Duration.ofSeconds(10));
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
    assertThat(bus.sessions.tokens().outstanding()).as("it was not used up").isEqualTo(1);
    assertThat(bus.counters.resumesRejected.sum()).as("no number was given").isZero();
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
    RecordingListener listener = new RecordingListener();
    session.askToMove(request("tok"), listener);
    assertThat(link.taken()).containsExactly(request("tok"));
    assertThat(listener.outcomes).isEmpty();
    session.onClosed();
    assertThat(listener.outcomes).containsExactly("gone");
    session.endMove("tok", "ws://two/bus");
    session.askToMove(request("late"), listener);
    assertThat(listener.outcomes).containsExactly("gone", "gone");
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aClientMayDeclineAMove() {
    welcome();
    RecordingListener listener = new RecordingListener();
    session.askToMove(request("tok"), listener);
    link.taken();
    handle(failed("another", "x"));
    assertThat(listener.outcomes).isEmpty();
    handle(failed("tok", "no connection"), failed("tok", "twice"));
    assertThat(listener.outcomes).containsExactly("no connection");
    assertThat(link.taken()).as("one that nobody asked for is ignored").isEmpty();
    session.endMove("tok", "ws://two/bus");
    assertThat(link.closed).as("it has answered").isEmpty();
    session.askToMove(request("tok2"), listener);
    assertThat(link.taken()).containsExactly(request("tok2"));
  }

  @Test
  void aClientThatReadsTheRequestAndBeginsToLeaveGetsOn() {
    welcome();
    RecordingListener listener = new RecordingListener();
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    session.askToMove(request("tok"), listener);
    assertThat(listener.steps).isZero();
    Runnable reading = link.reading;
    assertThat(reading).isNotNull();
    reading.run();
    assertThat(listener.steps).as("it knows").isEqualTo(1);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(2L)));
    assertThat(listener.steps).isEqualTo(2);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(listener.steps).isEqualTo(3);
    handle(failed("tok", "no connection"));
    reading.run();
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(3L)));
    assertThat(listener.steps).as("it stays").isEqualTo(3);
  }

  @Test
  void notifiesOnceWhenOnlyCallsAreLeft() {
    welcome();
    RecordingListener listener = new RecordingListener();
    handle(subscribe(1, "a", null));
    session.askToMove(request("tok"), listener);
    session.onTick(1);
    handle(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    session.onTick(2);
    assertThat(listener.outcomes).as("it is subscribed").isEmpty();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    session.onTick(3);
    session.onTick(4);
    assertThat(listener.outcomes).containsExactly("trails");
    session.onClosed();
    assertThat(listener.outcomes).containsExactly("trails", "gone");
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
    RecordingListener listener = new RecordingListener();
    session.askToMove(request("tok"), listener);
    session.endMove("another", "ws://two/bus");
    assertThat(link.closed).isEmpty();
    session.endMove("tok", "ws://two/bus");
    assertClosed(CloseReason.CHANGE_BUS);
    assertThat(link.closed.get(0).message()).isEqualTo("go on at ws://two/bus");
    assertThat(link.closedWhenWritten).as("it gets what is queued").isTrue();
    assertThat(listener.outcomes).containsExactly("gone");
  }

  @Test
  void aConnectionWithATokenDoesNotReplaceTheOther() {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = bus.sessions.tokens().issue(grant, Duration.ofSeconds(10));
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null));
    FakeLink other = new FakeLink();
    Session second = other.session(context);
    handle(second, hello, 0);
    assertThat(second.producer()).isEqualTo(first.getProducer());
    assertThat(second.moveGrant()).isEqualTo(grant);
    assertThat(session.moveGrant()).isNull();
    assertThat(link.closed).isEmpty();
    assertThat(bus.sessions.after(0)).containsExactly(session, second);
    // The move has failed: a resuming client replaces the first session.
    second.onClosed();
    FakeLink replayed = new FakeLink();
    Session third = replayed.session(context);
    handle(third, hello, 0);
    assertThat(((Problem) replayed.taken().get(0)).getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
    assertThat(replayed.closed.get(0).reason()).isEqualTo(CloseReason.UNAUTHENTICATED);
    assertThat(replayed.closed.get(0).message()).contains("used before");
    assertThat(link.closed).isEmpty();
    Session fourth = new FakeLink().session(context);
    handle(fourth, hello("s3cret", first.getResume()), 0);
    assertClosed(CloseReason.REPLACED);
    fourth.onClosed();
    third.onClosed();
  }

  @Test
  void bothConnectionsMayEndAtOnce() throws InterruptedException {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = bus.sessions.tokens().issue(grant, Duration.ofSeconds(10));
    Session second = new FakeLink().session(context);
    handle(
        second,
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null)),
        0);
    Thread otherLoop = new Thread(() -> bus.sessions.remove(session));
    byNumber.next =
        () -> {
          otherLoop.start();
          while (otherLoop.isAlive() && otherLoop.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
          }
        };
    second.onClosed();
    otherLoop.join();
    assertThat(bus.sessions.size()).isZero();
  }

  @Test
  void theFirstConnectionMayEndBeforeTheSecond() {
    Welcome first = welcome();
    MoveTokens.Grant grant = new MoveTokens.Grant(first.getProducer(), "one", 1);
    String token = bus.sessions.tokens().issue(grant, Duration.ofSeconds(10));
    FakeLink other = new FakeLink();
    Session second = other.session(context);
    handle(
        second,
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello(
                "client", "agent/1", "s3cret", first.getResume(), Map.of(), token, null, null)),
        0);
    session.onClosed();
    assertThat(bus.sessions.after(0)).containsExactly(second);
    Session third = new FakeLink().session(context);
    handle(third, hello("s3cret", first.getResume()), 0);
    assertThat(other.closed.get(0).reason()).isEqualTo(CloseReason.REPLACED);
    second.onClosed();
    third.onClosed();
    assertThat(bus.sessions.after(0)).isEmpty();
  }

  @Test
  void aTokenWithoutAResumeIsNobodys() {
    String token =
        bus.sessions.tokens().issue(new MoveTokens.Grant(0, "one", 1), Duration.ofSeconds(10));
    handle(
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", "s3cret", null, Map.of(), token, null, null)));
    assertClosed(CloseReason.UNAUTHENTICATED);
  }
}
