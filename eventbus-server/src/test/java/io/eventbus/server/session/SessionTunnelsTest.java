package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TunnelFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Data;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.stats.CallStats;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams and tunnels between two clients of a bus, frame by frame, including hostile clients. */
class SessionTunnelsTest {
  /** Of the sample: half of 1 MiB, for three tunnels. */
  private static final long MIN = (1 << 20) / 2 / 3;

  private static final long LIMIT = 100_000;

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final SessionFixture bus =
      new SessionFixture(
          Clock.fixed(Instant.parse("2026-03-04T05:06:07Z"), ZoneOffset.UTC),
          new Authentications(authenticator));
  private final LoopContext context = bus.context();
  private final FakeLink callersLink = new FakeLink();
  private final FakeLink membersLink = new FakeLink();
  private final Session caller = callersLink.session(context);
  private final Session member = membersLink.session(context);
  private final CallStats stats = bus.counters.loops().get(0).calls;

  // Number of the last tunnel.
  private long number;

  @BeforeEach
  void serve() {
    welcome(caller, callersLink);
    welcome(member, membersLink);
    say(member, new Register(1L, "db", 4, false, "", Map.of(), Overflow.DROP_OLDEST));
    membersLink.taken();
  }

  private void welcome(Session session, FakeLink link) {
    ByteBuffer hello =
        ByteBuffer.wrap(
            ControlFrames.encode(
                TypeCode.HELLO, new Hello("c", "a", null, null, Map.of(), null, null, null)));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    authenticator.last().complete(FakeAuthenticator.accepted(Map.of()));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    Welcome welcome = (Welcome) link.taken().get(0);
    assertThat(welcome.getTunnels()).isEqualTo(3);
    assertThat(welcome.getWindow()).isEqualTo((1 << 20) / 2);
  }

  @AfterEach
  void assertNoLeaks() {
    caller.onClosed();
    member.onClosed();
    context.trim();
    context.router().trim(Long.MAX_VALUE);
    assertThat(stats.inFlight.get()).isZero();
    assertThat(stats.tunnels.get()).isZero();
    assertThat(bus.memory.used()).isZero();
  }

  private static void say(Session session, SpecificRecord... records) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (SpecificRecord record : records) {
      TypeCode type = TypeCode.valueOf(record.getSchema().getName().toUpperCase(Locale.ROOT));
      all.writeBytes(ControlFrames.encode(type, record));
    }
    ByteBuffer message = ByteBuffer.wrap(all.toByteArray());
    session.onMessage(message, 0, message.limit(), 7, () -> {});
  }

  private static Object only(FakeLink link) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  private static Request request(long call, CallKind kind, long limit) {
    Request request = SampleCalls.request(call, "db", "please");
    request.setKind(kind);
    request.setLimit(limit);
    return request;
  }

  private void open(long call, CallKind kind) {
    say(caller, request(call, kind, LIMIT));
    Invoke invoke = (Invoke) only(membersLink);
    assertThat(invoke.getKind()).isEqualTo(kind);
    assertThat(invoke.getLimit()).isEqualTo(Math.min(LIMIT, MIN));
    number = invoke.getCall();
    Reply accept = SampleCalls.reply(number, "yes");
    accept.setLimit(LIMIT);
    say(member, accept);
    Reply reply = (Reply) only(callersLink);
    assertThat(reply.getCall()).isEqualTo(call);
    assertThat(reply.getLimit()).isEqualTo(kind == CallKind.STREAM ? 0 : Math.min(LIMIT, MIN));
  }

  private static Data data(long call, long offset, int bytes) {
    return new Data(call, offset, false, false, ByteBuffer.wrap(new byte[bytes]));
  }

  private static Data last(long call, long offset) {
    return new Data(call, offset, false, true, ByteBuffer.allocate(0));
  }

  private static void assertFailed(FakeLink link, long call, FailureCode code, String message) {
    Failure failure = (Failure) only(link);
    assertThat(failure.getCall()).isEqualTo(call);
    assertThat(failure.getCode()).isEqualTo(code);
    assertThat(failure.getMessage()).contains(message);
  }

  @Test
  void dataGoesBothWaysWithTheNumberOfTheReceiver() {
    open(5, CallKind.TUNNEL);
    assertThat(stats.tunnels.get()).isEqualTo(1);
    say(caller, data(5, 0, 10), data(5, 74, 0));
    assertThat(membersLink.taken()).containsExactly(data(number, 0, 10), data(number, 74, 0));
    say(member, data(number, 0, 3));
    assertThat(only(callersLink)).isEqualTo(data(5, 0, 3));
    assertThat(stats.tunnelBytes.get()).isEqualTo(13);
    say(caller, last(5, 138));
    assertThat(only(membersLink)).isEqualTo(last(number, 138));
    say(member, data(number, 67, 1), last(number, 132));
    assertThat(callersLink.taken()).containsExactly(data(5, 67, 1), last(5, 132));
    assertThat(stats.tunnels.get()).isZero();
  }

  @Test
  void aMemberMayEndFirst() {
    open(5, CallKind.TUNNEL);
    say(member, last(number, 0));
    assertThat(only(callersLink)).isEqualTo(last(5, 0));
    assertThat(stats.tunnels.get()).isEqualTo(1);
    say(caller, data(5, 0, 1), last(5, 65));
    assertThat(membersLink.taken()).containsExactly(data(number, 0, 1), last(number, 65));
    assertThat(stats.tunnels.get()).isZero();
  }

  @Test
  void nothingComesFromTheCallerOfAStream() {
    open(5, CallKind.STREAM);
    say(member, data(number, 0, 1));
    assertThat(only(callersLink)).isEqualTo(data(5, 0, 1));
    say(caller, data(5, 0, 1));
    assertFailed(callersLink, 5, FailureCode.INTERNAL, "caller of a stream");
    assertFailed(membersLink, number, FailureCode.INTERNAL, "caller of a stream");
    open(6, CallKind.STREAM);
    say(member, last(number, 0));
    assertThat(only(callersLink)).isEqualTo(last(6, 0));
    assertThat(stats.tunnels.get()).isZero();
  }

  @Test
  void aSenderIsToldOfMoreAsItsFramesAreWritten() {
    open(5, CallKind.TUNNEL);
    int half = (int) (LIMIT / 2 - TunnelFrames.FRAME_COST);
    say(caller, data(5, 0, half), data(5, LIMIT / 2, half));
    membersLink.taken();
    // Everything is written, and the member gives no more credit.
    membersLink.writeBulk();
    assertThat(callersLink.taken()).isEmpty();
    say(member, new Credit(number, LIMIT + 50_000, LIMIT, 0L));
    assertThat(only(callersLink)).isEqualTo(new Credit(5L, LIMIT + 50_000, LIMIT, 0L));
    say(caller, data(5, LIMIT, 10));
    assertThat(only(membersLink)).isEqualTo(data(number, LIMIT, 10));
  }

  @Test
  void unwrittenDataLimitsTheSenderWhateverTheCredit() {
    say(caller, request(5, CallKind.TUNNEL, LIMIT));
    number = ((Invoke) only(membersLink)).getCall();
    Reply accept = SampleCalls.reply(number, "yes");
    accept.setLimit(Long.MAX_VALUE);
    say(member, accept);
    long told = ((Reply) only(callersLink)).getLimit();
    assertThat(told).isEqualTo(MIN);
    long sent = 0;
    while (told - sent > TunnelFrames.FRAME_COST) {
      int bytes = (int) Math.min(60_000, told - sent - TunnelFrames.FRAME_COST);
      say(caller, data(5, sent, bytes));
      sent += TunnelFrames.cost(bytes);
      say(member, new Credit(number, Long.MAX_VALUE, 0L, 0L));
      for (Object frame : callersLink.taken()) {
        told = ((Credit) frame).getLimit();
      }
    }
    membersLink.taken();
    // Half of the rest each time, and no more than the window.
    assertThat(sent).isBetween(MIN, 1L << 20);
    membersLink.writeBulk();
    assertThat(((Credit) only(callersLink)).getLimit()).isGreaterThan(told);
  }

  @Test
  void anInvalidFrameEndsItsTunnelOnly() {
    open(5, CallKind.TUNNEL);
    open(6, CallKind.TUNNEL);
    long other = number;
    say(caller, data(6, 1, 0));
    assertFailed(callersLink, 6, FailureCode.INTERNAL, "Data.offset: 1 (expected: 0");
    assertFailed(membersLink, other, FailureCode.INTERNAL, "Data.offset");
    open(6 + 1, CallKind.TUNNEL);
    int maximum = TunnelFrames.MAX_PAYLOAD;
    say(caller, data(7, 0, maximum), data(7, TunnelFrames.cost(maximum), maximum));
    assertThat(membersLink.taken()).hasSize(2);
    assertFailed(callersLink, 7, FailureCode.INTERNAL, "Data.payload: 65536 bytes at 65600");
    open(8, CallKind.TUNNEL);
    say(caller, data(8, 0, maximum + 1));
    assertFailed(callersLink, 8, FailureCode.TOO_BIG, "Data.payload length: 65537");
    assertThat(((Failure) only(membersLink)).getCode()).isEqualTo(FailureCode.TOO_BIG);
    open(9, CallKind.TUNNEL);
    say(member, new Credit(number, LIMIT, 1L, 0L));
    assertFailed(
        membersLink, number, FailureCode.INTERNAL, "Credit.received: 1 (expected: at most");
    assertFailed(callersLink, 9, FailureCode.INTERNAL, "Credit.received");
    open(10, CallKind.TUNNEL);
    say(caller, new Data(10L, 0L, true, true, ByteBuffer.allocate(0)));
    assertFailed(callersLink, 10, FailureCode.INTERNAL, "Data.more");
    membersLink.taken();
    // Numbers of other connections, and unknown ones.
    say(caller, data(other, 0, 1), data(99, 0, 1), new Credit(99L, 5L, 0L, 0L));
    assertThat(callersLink.closed).isEmpty();
    say(caller, data(5, 0, 1));
    assertThat(membersLink.taken()).hasSize(1);
  }

  @Test
  void aClientThatKeepsOnSendingWhatIsWrongIsClosed() {
    for (int i = 0; i < 999; i++) {
      say(caller, data(99, 0, 1));
    }
    assertThat(callersLink.closed).isEmpty();
    say(caller, data(99, 0, 1));
    assertThat(callersLink.closed.get(0).reason()).isEqualTo(CloseReason.PROTOCOL_ERROR);
  }

  @Test
  void toleratesLateFramesAfterTheOtherEndHasGone() {
    open(5, CallKind.TUNNEL);
    say(member, failure(number, "gone"));
    assertThat(((Failure) only(callersLink)).getType()).isEqualTo("gone");
    int frames = (int) (LIMIT / TunnelFrames.cost(1));
    for (int i = 0; i < frames; i++) {
      say(caller, data(5, i * 65L, 1));
    }
    for (int i = 0; i < 999; i++) {
      say(caller, data(5, 0, 1));
    }
    assertThat(callersLink.closed).isEmpty();
  }

  private static Failure failure(long call, String type) {
    return new Failure(
        call,
        FailureCode.FAILED,
        "m",
        Execution.YES,
        0L,
        0L,
        type,
        ByteBuffer.wrap(new byte[] {1, 2}),
        false);
  }

  @Test
  void eitherEndMayResetInEveryState() {
    open(5, CallKind.TUNNEL);
    say(caller, failure(5, "a"));
    Failure reset = (Failure) only(membersLink);
    assertThat(reset).isEqualTo(failure(number, "a"));
    open(6, CallKind.TUNNEL);
    say(caller, last(6, 0));
    say(member, failure(number, "b"));
    assertThat(((Failure) only(callersLink)).getType()).isEqualTo("b");
    membersLink.taken();
    open(7, CallKind.TUNNEL);
    say(member, last(number, 0));
    say(caller, failure(7, "c"));
    assertThat(((Failure) only(membersLink)).getType()).isEqualTo("c");
    callersLink.taken();
    // Before a member has accepted it, it is a call like others.
    say(caller, request(8, CallKind.TUNNEL, LIMIT));
    number = ((Invoke) only(membersLink)).getCall();
    say(caller, new Cancel(8L, "never mind"));
    assertFailed(callersLink, 8, FailureCode.CANCELLED, "");
    assertThat(only(membersLink)).isEqualTo(new Cancel(number, "never mind"));
    say(member, SampleCalls.reply(number, "too late"), data(number, 0, 1));
    assertThat(callersLink.sent).isEmpty();
    assertThat(stats.tunnels.get()).isZero();
    // A member refuses it.
    say(caller, request(9, CallKind.TUNNEL, LIMIT));
    number = ((Invoke) only(membersLink)).getCall();
    say(member, failure(number, "no"));
    assertThat(((Failure) only(callersLink)).getType()).isEqualTo("no");
  }

  @Test
  void aCallerMayCancelAnOpenTunnel() {
    open(5, CallKind.TUNNEL);
    say(caller, new Cancel(5L, "enough"));
    assertThat(only(membersLink)).isEqualTo(new Cancel(number, "enough"));
    assertFailed(callersLink, 5, FailureCode.CANCELLED, "enough");
  }

  @Test
  void theEndOfAConnectionEndsItsTunnelsAtTheOtherEnd() {
    open(5, CallKind.TUNNEL);
    caller.onClosed();
    assertThat(((Cancel) only(membersLink)).getCall()).isEqualTo(number);
  }

  @Test
  void theEndOfTheMembersConnectionIsNotCertainForTheCaller() {
    open(5, CallKind.TUNNEL);
    member.onClosed();
    Failure lost = (Failure) only(callersLink);
    assertThat(lost.getCode()).isEqualTo(FailureCode.MEMBER_LOST);
    assertThat(lost.getExecuted()).isEqualTo(Execution.UNKNOWN);
  }

  @Test
  void aConnectionHasNoMoreThanItsLimit() {
    open(5, CallKind.TUNNEL);
    open(6, CallKind.STREAM);
    say(caller, request(7, CallKind.TUNNEL, LIMIT));
    membersLink.taken();
    say(caller, request(8, CallKind.TUNNEL, LIMIT));
    Failure full = (Failure) only(callersLink);
    assertThat(full.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(full.getExecuted()).isEqualTo(Execution.NO);
    assertThat(full.getMessage()).contains("limits.tunnels");
    assertThat(membersLink.sent).isEmpty();
  }

  @Test
  void countsFramesOfEndedTunnelsUntilTheyAreWritten() {
    for (int call = 1; call <= 3; call++) {
      open(call, CallKind.TUNNEL);
      say(caller, data(call, 0, 60_000), failure(call, "x"));
      membersLink.taken();
    }
    say(caller, request(4, CallKind.TUNNEL, LIMIT));
    say(member, SampleCalls.reply(((Invoke) only(membersLink)).getCall(), "yes"));
    List<Object> told = callersLink.taken();
    assertThat(told).hasSize(2);
    assertThat(((Failure) told.get(1)).getMessage()).startsWith("the member: too many");
    membersLink.writeBulk();
    membersLink.taken();
    callersLink.taken();
    open(5, CallKind.TUNNEL);
    say(caller, data(5, 0, 1));
    assertThat(only(membersLink)).isEqualTo(data(number, 0, 1));
  }
}
