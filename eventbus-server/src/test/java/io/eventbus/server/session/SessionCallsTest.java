package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Event;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unregister;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import io.eventbus.server.security.Rule;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Frames of clients that call and serve, with the calls of a bus behind them. */
class SessionCallsTest {
  private static final int PAYLOAD = 1000;

  // Current time, and the time that passes with each reading of the clock.
  private long nanos;
  private long cost;
  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final SessionFixture bus =
      new SessionFixture(
              Clock.fixed(Instant.parse("2026-03-04T05:06:07Z"), ZoneOffset.UTC),
              new Authentications(authenticator))
          .config(
              Map.of(
                  "limits.payload-bytes",
                  String.valueOf(PAYLOAD),
                  "limits.message-bytes",
                  "128KiB"))
          .budget(new WorkBudget(() -> nanos += cost));
  private final LoopContext context = bus.context();
  private final FakeLink callersLink = new FakeLink();
  private final FakeLink membersLink = new FakeLink();
  private final Session caller = callersLink.session(context);
  private final Session member = membersLink.session(context);

  @BeforeEach
  void welcome() {
    welcome(caller, callersLink, Map.of());
    welcome(member, membersLink, Map.of());
  }

  private void welcome(Session session, FakeLink link, Map<Action, FilterRules> limited) {
    ByteBuffer hello =
        ByteBuffer.wrap(
            ControlFrames.encode(
                TypeCode.HELLO, new Hello("c", "a", null, null, Map.of(), null, null, null)));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    authenticator.last().complete(FakeAuthenticator.accepted(limited));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    Welcome welcome = (Welcome) link.taken().get(0);
    assertThat(welcome.getCalls()).isEqualTo(4096);
    assertThat(welcome.getServices()).isEqualTo(1000);
  }

  @AfterEach
  void assertNoLeaks() {
    caller.onClosed();
    member.onClosed();
    context.trim();
    context.router().trim(Long.MAX_VALUE);
    assertThat(bus.counters.loops().get(0).calls.inFlight.get()).isZero();
    assertThat(bus.memory.used()).isZero();
  }

  private static void say(Session session, SpecificRecord... records) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (SpecificRecord record : records) {
      TypeCode type = TypeCode.valueOf(record.getSchema().getName().toUpperCase(Locale.ROOT));
      all.writeBytes(ControlFrames.encode(type, record));
    }
    ByteBuffer message = ByteBuffer.wrap(all.toByteArray());
    assertThat(session.onMessage(message, 0, message.limit(), 7, () -> {}))
        .isEqualTo(message.limit());
  }

  private void serve(String service) {
    say(member, new Register(1L, service, 4, false, "", Map.of(), Overflow.DROP_OLDEST));
    assertThat(membersLink.taken())
        .containsExactly(new Confirm(TypeCode.REGISTER.code(), 1L, "", -1L, 0L, false, 0L));
  }

  private Invoke invoked() {
    return (Invoke) only(membersLink);
  }

  private Failure failed() {
    return (Failure) only(callersLink);
  }

  private static Object only(FakeLink link) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  @Test
  void aRequestReachesTheMemberAndItsReplyTheCaller() {
    serve("orders");
    Request request = SampleCalls.request(9, "orders", "how many?");
    request.setMethod("count");
    request.setTimeoutMillis(2000);
    request.setAttempt(3);
    request.setSchema$(-7L);
    say(caller, request);

    Invoke invoke = invoked();
    assertThat(invoke.getCall()).isNegative();
    assertThat(invoke)
        .isEqualTo(
            new Invoke(
                invoke.getCall(),
                1L,
                "count",
                CallKind.REPLY,
                2000,
                caller.producer(),
                9L,
                3,
                "",
                context.bus().nowMicros(),
                -7L,
                SampleCalls.event("how many?"),
                0L));

    bus.port.now += 5_000;
    Reply reply = SampleCalls.reply(invoke.getCall(), "12");
    reply.setHandledMicros(42);
    reply.setSchema$(8L);
    say(member, reply);

    assertThat(only(callersLink))
        .isEqualTo(new Reply(9L, member.producer(), 0, 42, 8L, SampleCalls.event("12"), false, 0L));
    assertThat(membersLink.sent).isEmpty();
    assertThat(bus.counters.loops().get(0).calls.replies.get()).isEqualTo(1);
  }

  @Test
  void aMemberThatAsksIsToldWhoCalls() {
    say(member, new Register(1L, "orders", 4, true, "", Map.of(), Overflow.DROP_OLDEST));
    membersLink.taken();
    say(caller, SampleCalls.request(1, "orders", ""));
    assertThat(invoked().getIdentity()).isEqualTo("subject");
  }

  @Test
  void aFailureOfTheApplicationReachesTheCallerAsItIs() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    ByteBuffer details = ByteBuffer.wrap(new byte[] {1, 2, 3});
    say(
        member,
        new Failure(
            invoked().getCall(),
            FailureCode.FAILED,
            "no",
            Execution.YES,
            5L,
            99L,
            "Sold",
            details,
            false));
    assertThat(failed())
        .isEqualTo(
            new Failure(
                1L,
                FailureCode.FAILED,
                "no",
                Execution.YES,
                5L,
                member.producer(),
                "Sold",
                details,
                false));
  }

  @Test
  void anInvalidRequestFailsAndClosesNothing() {
    serve("orders");
    say(caller, SampleCalls.request(1, "nobody", ""));
    assertFailed(1, FailureCode.NO_MEMBER, Execution.NO);
    say(caller, SampleCalls.request(2, "a..b", ""));
    assertThat(assertFailed(2, FailureCode.NO_MEMBER, Execution.NO).getMessage())
        .contains("empty token");
    for (Request unserved : unserved()) {
      say(caller, unserved);
      assertFailed(3, FailureCode.UNSUPPORTED, Execution.NO);
    }
    say(caller, SampleCalls.request(4, "orders", "x".repeat(PAYLOAD + 1)));
    assertThat(assertFailed(4, FailureCode.TOO_BIG, Execution.NO).getMessage())
        .contains("Event.payload");
    Request elsewhere = SampleCalls.request(5, "orders", "");
    elsewhere.setMember(12L);
    say(caller, elsewhere);
    assertFailed(5, FailureCode.NO_MEMBER, Execution.NO);
    assertThat(membersLink.sent).isEmpty();
    assertThat(callersLink.closed).isEmpty();
    assertThat(bus.counters.loops().get(0).calls.failures(FailureCode.UNSUPPORTED).get())
        .isEqualTo(1);
  }

  private static List<Request> unserved() {
    Request all = SampleCalls.request(3, "orders", "");
    all.setScope(CallScope.ALL);
    all.setMember(12L);
    return List.of(all);
  }

  private Failure assertFailed(long call, FailureCode code, Execution executed) {
    Failure failure = failed();
    assertThat(failure.getCall()).isEqualTo(call);
    assertThat(failure.getCode()).as(failure.getMessage()).isEqualTo(code);
    assertThat(failure.getExecuted()).isEqualTo(executed);
    return failure;
  }

  @Test
  void aNumberThatIsInFlightEndsTheConnection() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""), SampleCalls.request(1, "orders", ""));
    assertThat(callersLink.closed).hasSize(1);
    assertThat(callersLink.closed.get(0).reason()).isEqualTo(CloseReason.PROTOCOL_ERROR);
    assertThat(((Problem) callersLink.sent.get(0)).getMessage()).contains("call 1 is in flight");
  }

  @Test
  void theTimeOfACallEnds() {
    serve("orders");
    Request request = SampleCalls.request(1, "orders", "");
    request.setTimeoutMillis(100);
    say(caller, request);
    long call = invoked().getCall();
    bus.port.pass(TimeUnit.MILLISECONDS.toNanos(200));
    assertFailed(1, FailureCode.TIMEOUT, Execution.UNKNOWN);
    assertThat(((Cancel) only(membersLink)).getCall()).isEqualTo(call);
    // The late answer is no mistake.
    say(member, SampleCalls.reply(call, "late"));
    assertThat(callersLink.sent).isEmpty();
  }

  @Test
  void aCallIsCancelled() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    long call = invoked().getCall();
    say(caller, new Cancel(1L, "enough"), new Cancel(77L, "never begun"));
    assertFailed(1, FailureCode.CANCELLED, Execution.UNKNOWN);
    assertThat(only(membersLink)).isEqualTo(new Cancel(call, "enough"));
  }

  @Test
  void registrationsAreRefused() {
    serve("orders");
    say(member, new Subscribe(7L, "t", null, Overflow.BLOCK));
    membersLink.taken();
    assertRefused(
        new Register(1L, "other", 1, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.DUPLICATE_SUBSCRIPTION);
    assertRefused(
        new Register(7L, "other", 1, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.DUPLICATE_SUBSCRIPTION);
    assertRefused(
        new Register(2L, "orders", 1, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.DUPLICATE_SUBSCRIPTION);
    assertRefused(
        new Register(2L, "$bus", 1, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.ILLEGAL_TOPIC);
    assertRefused(
        new Register(2L, "a.*", 1, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.ILLEGAL_TOPIC);
    assertRefused(
        new Register(2L, "x", 65_537, false, "", Map.of(), Overflow.DROP_OLDEST),
        ErrorCode.TOO_BIG);
    assertRefused(new Unregister(2L), ErrorCode.UNKNOWN_SUBSCRIPTION);
    assertRefused(new Capacity(2L, 1), ErrorCode.UNKNOWN_SUBSCRIPTION);
    assertRefused(new Subscribe(1L, "t", null, Overflow.BLOCK), ErrorCode.DUPLICATE_SUBSCRIPTION);
    assertThat(membersLink.closed).isEmpty();
  }

  private void assertRefused(SpecificRecord record, ErrorCode code) {
    say(member, record);
    Problem problem = (Problem) only(membersLink);
    assertThat(problem.getCode()).as(problem.getMessage()).isEqualTo(code);
    assertThat(problem.getAbout()).isEqualTo(record.get(0));
    assertThat(problem.getMessage()).contains("expected");
  }

  @Test
  void manySubscriptionsOfAClientThatHasGoneEndInSlices() {
    for (long i = 1; i <= 1_000; i++) {
      String group = i % 10 == 0 ? "g" : null;
      say(caller, new Subscribe(i, "a." + i, group, Overflow.DROP_OLDEST));
    }
    assertThat(bus.index.size()).isEqualTo(1_000);
    bus.port.cost = 100_000;
    caller.onClosed();
    assertThat(bus.index.size()).as("those of groups go at once").isBetween(800L, 900L);
    int turns = 0;
    for (long before = bus.index.size(); bus.index.size() > 0; before = bus.index.size()) {
      bus.port.pass(1);
      assertThat(bus.index.size()).isLessThan(before);
      turns++;
    }
    assertThat(turns).isGreaterThan(5);
    bus.port.cost = 0;
  }

  @Test
  void callsAndRepliesCostTheTimeThatTheyTake() {
    serve("orders");
    cost = 1 << 17;
    long before = context.budget().total();
    say(caller, SampleCalls.request(1, "orders", ""));
    assertThat(context.budget().total() - before).isGreaterThanOrEqualTo(cost >> 7);
    long call = invoked().getCall();
    before = context.budget().total();
    say(member, SampleCalls.reply(call, "x"));
    assertThat(context.budget().total() - before).isGreaterThanOrEqualTo(cost >> 7);
  }

  @Test
  void aMemberThatLeavesIsNotCalledAgainAndMayStillAnswer() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    long call = invoked().getCall();
    say(member, new Unregister(1L));
    assertThat(membersLink.taken())
        .containsExactly(
            new Confirm(TypeCode.UNREGISTER.code(), 1L, "", -1L, 0L, false, 0L), new Drained(1L));
    say(caller, SampleCalls.request(2, "orders", ""));
    assertFailed(2, FailureCode.NO_MEMBER, Execution.NO);
    say(member, SampleCalls.reply(call, "done"));
    assertThat(((Reply) only(callersLink)).getCall()).isEqualTo(1);
    serve("orders");
  }

  @Test
  void withoutCapacityACallWaits() {
    serve("orders");
    say(member, new Capacity(1L, 0));
    Request request = SampleCalls.request(1, "orders", "");
    request.setWaitMillis(1000);
    say(caller, request);
    assertThat(membersLink.sent).isEmpty();
    say(member, new Capacity(1L, 2));
    assertThat(invoked().getRequest()).isEqualTo(1);
  }

  @Test
  void losesOrRepeatsTheCallsOfALostMember() {
    serve("orders");
    membersLink.invokesWritten = 1;
    say(caller, SampleCalls.request(1, "orders", ""), SampleCalls.request(2, "orders", ""));
    assertThat(membersLink.taken()).hasSize(2);
    FakeLink otherLink = new FakeLink();
    Session other = otherLink.session(context);
    welcome(other, otherLink, Map.of());
    say(other, new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST));
    otherLink.taken();

    member.onClosed();

    assertFailed(1, FailureCode.MEMBER_LOST, Execution.UNKNOWN);
    Invoke again = (Invoke) only(otherLink);
    assertThat(again.getRequest()).isEqualTo(2);
    assertThat(again.getAttempt()).as("nobody can have begun with it").isZero();
    other.onClosed();
    assertFailed(2, FailureCode.NO_MEMBER, Execution.NO);
  }

  @Test
  void refusesForbiddenCallsAndRegistrations() {
    FakeLink link = new FakeLink();
    Session limited = link.session(context);
    Rule rule =
        new Rule(Effect.ALLOW, Action.REQUEST, "orders", "test", TopicFilter.parse("orders"));
    welcome(
        limited,
        link,
        Map.of(
            Action.REQUEST,
            FilterRules.of(List.of(rule), "role r"),
            Action.SERVE,
            FilterRules.nothing("role r")));
    serve("orders");
    say(limited, SampleCalls.request(1, "orders", ""), SampleCalls.request(2, "other", ""));
    invoked();
    Failure failure = (Failure) only(link);
    assertThat(failure.getCode()).isEqualTo(FailureCode.FORBIDDEN);
    assertThat(failure.getExecuted()).isEqualTo(Execution.NO);
    assertThat(failure.getMessage()).contains("'other'").contains("role r");
    say(limited, new Register(4L, "orders", 1, false, "", Map.of(), Overflow.DROP_OLDEST));
    assertThat(((Problem) only(link)).getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    limited.onClosed();
  }

  @Test
  void aMemberThatMayNotServeAnyMoreIsTakenOut() {
    serve("orders");
    member
        .admission()
        .applyPrincipal(
            new Principal(
                "", "subject", AuthenticationMethod.JWT, new Permissions(Map.of()), null, null));
    List<Object> told = membersLink.taken();
    assertThat(((Problem) told.get(0)).getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(told.get(1)).isEqualTo(new Drained(1L));
    say(caller, SampleCalls.request(1, "orders", ""));
    assertFailed(1, FailureCode.NO_MEMBER, Execution.NO);
  }

  @Test
  void aReplyThatIsTooBigEndsTheCall() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    long call = invoked().getCall();
    say(member, SampleCalls.reply(call, "x".repeat(PAYLOAD + 1)));
    Problem problem = (Problem) only(membersLink);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.TOO_BIG);
    assertThat(problem.getAbout()).isEqualTo(call);
    assertFailed(1, FailureCode.TOO_BIG, Execution.YES);
  }

  @Test
  void aReplyWithoutRoomIsAFailure() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    callersLink.callRoom = 10;
    say(member, SampleCalls.reply(invoked().getCall(), "12"));
    assertFailed(1, FailureCode.OVERLOADED, Execution.YES);
  }

  @Test
  void aThousandAnswersToNothingEndTheConnection() {
    for (int i = 0; i < 999; i++) {
      say(member, SampleCalls.reply(-i, ""));
    }
    assertThat(membersLink.closed).isEmpty();
    say(member, new Failure(5L, FailureCode.FAILED, "", Execution.YES, 0L, 0L, "", none(), false));
    assertThat(membersLink.closed.get(0).reason()).isEqualTo(CloseReason.PROTOCOL_ERROR);
  }

  private static ByteBuffer none() {
    return ByteBuffer.allocate(0);
  }

  /** A member that publishes to a full topic can still answer. */
  @Test
  void callsGoOnBehindAnEventThatWaitsForRoom() {
    serve("orders");
    say(caller, SampleCalls.request(1, "orders", ""));
    long call = invoked().getCall();
    say(caller, new Subscribe(1L, "t", null, Overflow.BLOCK));
    callersLink.taken();
    callersLink.full(true);

    say(
        member,
        new Publish("t", 1L, 0L, true, List.of(SampleCalls.event("a")), 0L, 0L, 0L, null, 0L),
        new Publish("t", 2L, 0L, true, List.of(SampleCalls.event("b")), 0L, 0L, 0L, null, 0L),
        SampleCalls.reply(call, "12"),
        new Subscribe(3L, "later", null, Overflow.BLOCK));

    assertThat(((Reply) only(callersLink)).getCall()).isEqualTo(1);
    assertThat(membersLink.sent).isEmpty();
    assertThat(member.awaitsRoom()).as("what comes next is read").isFalse();

    callersLink.full(false);
    membersLink.turns.forEach(Runnable::run);

    assertThat(membersLink.taken())
        .containsExactly(
            new Confirm(TypeCode.PUBLISH.code(), 1L, "t", 1L, 0L, false, 0L),
            new Confirm(TypeCode.PUBLISH.code(), 2L, "t", 1L, 0L, false, 0L),
            new Confirm(TypeCode.SUBSCRIBE.code(), 3L, "", -1L, 0L, false, 0L));
  }

  @Test
  void boundsTheBacklogBehindAnEvent() {
    serve("orders");
    say(caller, new Subscribe(1L, "t", null, Overflow.BLOCK));
    callersLink.full(true);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Event event = SampleCalls.event("x".repeat(900));
    for (long i = 1; i <= 200; i++) {
      all.writeBytes(
          ControlFrames.encode(
              TypeCode.PUBLISH,
              new Publish("t", i, 0L, false, List.of(event), 0L, 0L, 0L, null, 0L)));
    }
    ByteBuffer message = ByteBuffer.wrap(all.toByteArray());
    long keptBefore = member.keptBytes();
    boolean[] retried = new boolean[1];
    int at = member.onMessage(message, 0, message.limit(), 7, () -> retried[0] = true);
    assertThat(at).isBetween(100 << 10, 128 << 10);
    assertThat(member.awaitsRoom()).isTrue();
    assertThat(member.keptBytes() - keptBefore)
        .as("counts for the connection, which is evicted when memory is short")
        .isGreaterThanOrEqualTo(at);

    callersLink.full(false);
    for (int i = 0; i < membersLink.turns.size(); i++) {
      membersLink.turns.get(i).run();
    }
    assertThat(retried[0]).isTrue();
    assertThat(member.onMessage(message, at, message.limit(), 7, () -> {}))
        .isEqualTo(message.limit());
    assertThat(member.published()).isEqualTo(200);
    assertThat(member.keptBytes()).isEqualTo(keptBefore);
  }

  @Test
  void acceptsPriorities() {
    serve("orders");
    Request request = SampleCalls.request(1, "orders", "");
    request.setPriority(CallPriority.HIGH);
    say(caller, request);
    assertThat(invoked().getRequest()).isEqualTo(1);
  }
}
