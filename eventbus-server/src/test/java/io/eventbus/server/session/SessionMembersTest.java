package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
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
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Rule;
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

/** Frames to all members of a service: broadcasts, and requests to all. */
class SessionMembersTest {
  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final SessionFixture bus =
      new SessionFixture(
          Clock.fixed(Instant.parse("2026-03-04T05:06:07Z"), ZoneOffset.UTC),
          new Authentications(authenticator));
  private final LoopContext context = bus.context();
  private final FakeLink callersLink = new FakeLink();
  private final FakeLink oneLink = new FakeLink();
  private final FakeLink otherLink = new FakeLink();
  private final Session caller = callersLink.session(context);
  private final Session one = oneLink.session(context);
  private final Session other = otherLink.session(context);

  @BeforeEach
  void welcome() {
    welcome(caller, callersLink, Map.of());
    welcome(one, oneLink, Map.of());
    welcome(other, otherLink, Map.of());
  }

  private void welcome(Session session, FakeLink link, Map<Action, FilterRules> limited) {
    ByteBuffer hello =
        ByteBuffer.wrap(
            ControlFrames.encode(
                TypeCode.HELLO, new Hello("c", "a", null, null, Map.of(), null, null, null)));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    authenticator.last().complete(FakeAuthenticator.accepted(limited));
    session.onMessage(hello, 0, hello.limit(), 5, () -> {});
    link.taken();
  }

  @AfterEach
  void assertNoLeaks() {
    caller.onClosed();
    one.onClosed();
    other.onClosed();
    context.trim();
    context.router().trim(Long.MAX_VALUE);
    assertThat(bus.counters.loops().get(0).calls.inFlight.get()).isZero();
    assertThat(bus.memory.used()).isZero();
    assertThat(bus.index.size()).isZero();
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

  private static Register register(long id, int concurrency, Overflow overflow) {
    return new Register(id, "room.1", concurrency, false, "", Map.of(), overflow);
  }

  private void serve() {
    say(one, register(1, 4, Overflow.DROP_OLDEST));
    say(other, register(2, 0, Overflow.CONFLATE));
    assertThat(oneLink.taken())
        .containsExactly(new Confirm(TypeCode.REGISTER.code(), 1L, "", -1L, 0L, false, 0L));
    assertThat(otherLink.taken())
        .containsExactly(new Confirm(TypeCode.REGISTER.code(), 2L, "", -1L, 0L, false, 0L));
  }

  private static Publish broadcast(String service, long sequence) {
    return new Publish(
        "$SRV." + service,
        sequence,
        0L,
        true,
        List.of(SampleCalls.event("e" + sequence)),
        0L,
        0L,
        0L,
        null,
        0L);
  }

  private static Object only(FakeLink link) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  @Test
  void aBroadcastReachesAllMembersUnderTheirPolicies() {
    serve();
    say(caller, broadcast("room.1", 1));
    assertThat(only(callersLink))
        .isEqualTo(new Confirm(TypeCode.PUBLISH.code(), 1L, "$SRV.room.1", 2L, 0L, false, 0L));
    assertThat(oneLink.got).hasSize(1);
    assertThat(oneLink.policies).containsExactly(Overflow.DROP_OLDEST);
    assertThat(otherLink.policies).containsExactly(Overflow.CONFLATE);

    say(other, new Unregister(2L));
    assertThat(otherLink.taken())
        .containsExactly(
            new Confirm(TypeCode.UNREGISTER.code(), 2L, "", -1L, 0L, false, 0L), new Drained(2L));
    say(caller, broadcast("room.1", 2));
    assertThat(oneLink.got).hasSize(2);
    assertThat(otherLink.got).hasSize(1);
    callersLink.taken();
  }

  @Test
  void onlyMembersSubscribeToBroadcasts() {
    for (String filter : List.of("$SRV.room.1", "$SRV.>", "$SRV.*", "$SRV.room.*")) {
      say(caller, new Subscribe(1L, filter, null, Overflow.DROP_OLDEST));
      Problem problem = (Problem) only(callersLink);
      assertThat(problem.getCode()).as(filter).isEqualTo(ErrorCode.FORBIDDEN);
      assertThat(problem.getMessage()).contains("expected: Register");
    }
    say(caller, new Subscribe(1L, "$SYS.>", null, Overflow.DROP_OLDEST));
    assertThat(only(callersLink)).isInstanceOf(Confirm.class);
    say(caller, new Subscribe(2L, ">", null, Overflow.DROP_OLDEST), broadcast("room.1", 1));
    callersLink.taken();
    assertThat(callersLink.got).isEmpty();
  }

  @Test
  void refusesAForbiddenBroadcast() {
    FakeLink link = new FakeLink();
    Session limited = link.session(context);
    Rule rule =
        new Rule(Effect.ALLOW, Action.BROADCAST, "room.*", "test", TopicFilter.parse("room.*"));
    welcome(limited, link, Map.of(Action.BROADCAST, FilterRules.of(List.of(rule), "role r")));
    serve();
    say(limited, broadcast("room.1", 1), broadcast("hall.1", 1), broadcast("room.1", 2));
    List<Object> answers = link.taken();
    assertThat(answers).hasSize(3);
    Problem problem = (Problem) answers.get(1);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(problem.getMessage()).contains("'hall.1'").contains("role r");
    assertThat(problem.getTopic()).isEqualTo("$SRV.hall.1");
    assertThat(oneLink.got).hasSize(2);
    limited.onClosed();
  }

  @Test
  void onlyTheNameOfAServiceIsATopicOfMembers() {
    say(caller, broadcast("$bus", 1));
    assertThat(((Problem) only(callersLink)).getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
    for (String topic : List.of("$SRV", "$SYS.x", "$SRVx.a")) {
      say(
          caller,
          new Publish(topic, 1L, 0L, true, List.of(SampleCalls.event("x")), 0L, 0L, 0L, null, 0L));
      assertThat(((Problem) only(callersLink)).getCode())
          .as(topic)
          .isEqualTo(ErrorCode.ILLEGAL_TOPIC);
    }
  }

  @Test
  void refusesAMemberThatMayNotStallPublishers() {
    FakeLink link = new FakeLink();
    Session limited = link.session(context);
    welcome(limited, link, Map.of(Action.BLOCK, FilterRules.nothing("role r")));
    say(limited, register(1, 4, Overflow.BLOCK));
    assertThat(((Problem) only(link)).getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    link.mayBlock = false;
    say(limited, register(1, 4, Overflow.BLOCK));
    assertThat(((Problem) only(link)).getMessage()).contains("listen.browser-block");
    say(limited, register(1, 4, Overflow.DROP_OLDEST));
    assertThat(only(link)).isInstanceOf(Confirm.class);
    limited.onClosed();
  }

  private static Request toAll(long call) {
    Request request = SampleCalls.request(call, "room.1", "?");
    request.setScope(CallScope.ALL);
    return request;
  }

  @Test
  void aRequestToAllIsAnsweredByEachMemberThatTakesCalls() {
    serve();
    FakeLink thirdLink = new FakeLink();
    Session third = thirdLink.session(context);
    welcome(third, thirdLink, Map.of());
    say(third, register(9, 1, Overflow.DROP_OLDEST));
    thirdLink.taken();

    say(caller, toAll(7));

    Invoke first = (Invoke) only(oneLink);
    assertThat(first.getRequest()).isEqualTo(7);
    Invoke second = (Invoke) only(thirdLink);
    assertThat(second.getRequest()).isEqualTo(7);
    assertThat(otherLink.sent).isEmpty();

    say(one, SampleCalls.reply(first.getCall(), "1"));
    Reply reply = (Reply) only(callersLink);
    assertThat(reply.getCall()).isEqualTo(7);
    assertThat(reply.getMember()).isEqualTo(one.producer());
    assertThat(reply.getMore()).isTrue();

    say(
        third,
        new Failure(
            second.getCall(),
            FailureCode.FAILED,
            "no",
            Execution.YES,
            0L,
            0L,
            "T",
            ByteBuffer.allocate(0),
            true));
    Failure failure = (Failure) only(callersLink);
    assertThat(failure.getMember()).isEqualTo(third.producer());
    assertThat(failure.getType()).isEqualTo("T");
    assertThat(failure.getMore()).as("a member does not say whether others come").isFalse();
    third.onClosed();
  }

  @Test
  void aRequestToAllEndsWithItsConnectionOrWithCancel() {
    serve();
    say(caller, toAll(1));
    Invoke invoke = (Invoke) only(oneLink);
    say(caller, new Cancel(1L, "enough"));
    Failure failure = (Failure) only(callersLink);
    assertThat(failure.getCode()).isEqualTo(FailureCode.CANCELLED);
    assertThat(only(oneLink)).isEqualTo(new Cancel(invoke.getCall(), "enough"));
    say(one, SampleCalls.reply(invoke.getCall(), "late"));
    assertThat(callersLink.sent).isEmpty();
    say(caller, toAll(2));
    caller.onClosed();
    assertThat(oneLink.taken()).hasSize(2);
  }

  @Test
  void aNumberIsInFlightOnceWhateverItIsFor() {
    serve();
    say(caller, toAll(1));
    ByteBuffer again =
        ByteBuffer.wrap(
            ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(1, "room.1", "?")));
    caller.onMessage(again, 0, again.limit(), 7, () -> {});
    assertThat(callersLink.closed).hasSize(1);
  }

  @Test
  void refusesAnInvalidRequestToAllAtOnce() {
    say(caller, toAll(1));
    assertThat(((Failure) only(callersLink)).getCode()).isEqualTo(FailureCode.NO_MEMBER);
    serve();
    Request toOne = toAll(2);
    toOne.setMember(one.producer());
    say(caller, toOne);
    assertThat(((Failure) only(callersLink)).getCode()).isEqualTo(FailureCode.UNSUPPORTED);
  }

  @Test
  void answersQueriesOfObserversOnly() {
    List<String> asked = new java.util.ArrayList<>();
    say(caller, SampleCalls.request(1, "$bus", "room.1"));
    assertThat(((Failure) only(callersLink)).getCode()).isEqualTo(FailureCode.UNKNOWN_METHOD);

    FakeLink link = new FakeLink();
    Session limited = link.session(context);
    Rule rule =
        new Rule(
            Effect.ALLOW,
            Action.OBSERVE,
            "$SYS.services.room.1",
            "test",
            TopicFilter.parse("$SYS.services.room.1"));
    welcome(limited, link, Map.of(Action.OBSERVE, FilterRules.of(List.of(rule), "role r")));
    for (String[] question :
        new String[][] {{"service", "room.1"}, {"service", "hall"}, {"services", "room.1"}}) {
      Request request = SampleCalls.request(asked.size() + 1, "$bus", question[1]);
      request.setMethod(question[0]);
      say(limited, request);
      asked.add(((Failure) only(link)).getCode().name());
    }
    assertThat(asked).containsExactly("UNKNOWN_METHOD", "FORBIDDEN", "FORBIDDEN");
    limited.onClosed();
  }
}
