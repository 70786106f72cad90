package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Problem;
import io.eventbus.server.samples.SampleFrames;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Frames of a client, and the end of its session. */
class SessionTest extends SessionTestCase {
  @ParameterizedTest
  @EnumSource(
      value = TypeCode.class,
      names = {
        "CHANGE_BUS",
        "DELIVER",
        "WELCOME",
        "PROBLEM",
        "CONFIRM",
        "GAP",
        "DRAINED",
        "FEED",
        "TOLD",
        "TRUNCATED"
      })
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
    assertThat(problem.getMessage()).contains("(expected: 0..13, 16..18, 20..28, 31..35, 37)");
    assertThat(sent.get(1))
        .isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
    assertThat(link.closed).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = TypeCode.class,
      names = {"CONSUME", "SETTLE", "ASK"})
  void framesForDurableTopicsAreSkippedByABusWithoutThem(TypeCode type) {
    welcome();
    handle(new byte[] {(byte) (type.code() * 2), 2, 1}, subscribe(1, "a", null));
    List<Object> sent = link.taken();
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.UNKNOWN_TYPE);
    assertThat(problem.getTypeCode()).isEqualTo(type.code());
    assertThat(problem.getMessage()).startsWith(type + " is for durable topics");
    assertThat(sent.get(1)).isInstanceOf(Confirm.class);
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
    assertThat(sent.get(3))
        .isEqualTo(new Confirm(TypeCode.SUBSCRIBE.code(), 3L, "", -1L, 0L, false, 0L));
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
    return ControlFrames.encode(TypeCode.CREDIT, new Credit(call, limit, 0L, 0L));
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
  void aBarrierComesBackBehindWhatWasSentBefore() {
    welcome();
    handle(
        SampleFrames.publish("a", 1, true, "x"),
        ControlFrames.encode(TypeCode.BARRIER, new Barrier(-7L)));
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.PUBLISH.code(), 1L, "a", 0L, 0L, false, 0L), new Barrier(-7L));
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
    assertThat(bus.index.size()).isZero();
    assertThat(session.isWelcomed()).as("also after the end").isTrue();
    byte[] late = SampleFrames.publish("a", 1, true, "x");
    assertThat(handle(session, late, 0)).isEqualTo(late.length);
    assertThat(session.published()).isZero();
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
