package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Data;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that have used up their quotas. */
class SessionQuotaTest {
  private static final long SECOND = 1_000_000_000;

  private final List<Session> all = new ArrayList<>();
  private ClientQuotas given = ClientQuotas.NONE;
  private long now = 7;
  private final QuotaAccounts quotas = new QuotaAccounts(new Advisories(), () -> now);
  private final SessionFixture bus =
      new SessionFixture(
              Clock.systemUTC(),
              new Authentications(
                  credentials -> CompletableFuture.completedFuture(accepted(given))))
          .quotas(quotas)
          .budget(new WorkBudget(() -> now));
  private final LoopContext context = bus.context();

  private static Authentication accepted(ClientQuotas quotas) {
    Principal everything = ((Authentication.Accepted) FakeAuthenticator.everything()).principal();
    return new Authentication.Accepted(
        new Principal(
            "acme", "u1", AuthenticationMethod.JWT, everything.permissions(), quotas, null, null));
  }

  @AfterEach
  void assertNoLeaks() {
    all.forEach(Session::onClosed);
    now += 3600 * SECOND;
    // A new client triggers the check of lingering quotas.
    Principal other =
        new Principal(
            "x",
            "x",
            AuthenticationMethod.JWT,
            Permissions.NONE,
            limited(Quota.CONNECTIONS, 1),
            null,
            null);
    assertThat(quotas.enter(other, false)).isInstanceOf(QuotaAccounts.Entry.Open.class);
    assertThat(quotas.find("acme", "u1")).isEmpty();
    assertThat(bus.index.size()).isZero();
    assertThat(bus.memory.used()).isZero();
  }

  private static ClientQuotas limited(Quota quota, long limit) {
    return new ClientQuotas(new Quotas(Map.of(quota, limit)), Quotas.NONE);
  }

  /** Client with its received frames. */
  private final class Client {
    final FakeLink link = new FakeLink();
    final Session session = link.session(context);

    Client() {
      all.add(session);
    }

    int say(byte[] frame) {
      context.budget().renew();
      return session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, now, () -> {});
    }

    Client hello(@Nullable String resume) {
      say(
          ControlFrames.encode(
              TypeCode.HELLO, new Hello("c", "a/1", "t", resume, Map.of(), null, null, null)));
      return this;
    }

    Problem problem() {
      List<Object> sent = link.taken();
      assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
      return (Problem) sent.get(0);
    }
  }

  private static byte[] publish(String... payloads) {
    return SampleFrames.publish("a.b", 1, false, payloads);
  }

  private static byte[] subscribe(long id) {
    return ControlFrames.encode(
        TypeCode.SUBSCRIBE, new Subscribe(id, "a." + id, null, Overflow.BLOCK));
  }

  @Test
  void closesTooManyConnectionsWithARetryableError() {
    given = limited(Quota.CONNECTIONS, 1);
    Client first = new Client().hello(null);
    Welcome welcome = (Welcome) first.link.taken().get(0);
    Client second = new Client().hello(null);
    Problem problem = second.problem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    assertThat(problem.getRetryable()).isTrue();
    assertThat(problem.getTypeCode()).isEqualTo(TypeCode.HELLO.code());
    assertThat(problem.getMessage()).contains("at most 1, quota connections");
    assertThat(second.link.closed.get(0).reason()).isEqualTo(CloseReason.OVERLOADED);
    assertThat(second.session.isWelcomed()).isFalse();
    Client back = new Client().hello(welcome.getResume());
    assertThat(back.session.isWelcomed()).as("it takes the first one's place").isTrue();
    assertThat(first.link.closed.get(0).reason()).isEqualTo(CloseReason.REPLACED);
  }

  @Test
  void stopsReadingAnExcessivePublisherWithoutLoss() {
    given = limited(Quota.PUBLISH_EVENTS, 2);
    Client client = new Client().hello(null);
    client.link.taken();
    byte[] frame = publish("1", "2", "3", "4");
    assertThat(client.say(frame)).as("what is there may be overdrawn").isEqualTo(frame.length);
    assertThat(client.session.awaitsRoom()).isFalse();
    assertThat(client.say(frame)).as("nothing was handled").isZero();
    assertThat(client.session.awaitsRoom()).as("credit does not hold").isTrue();
    assertThat(client.link.laterNanos).isGreaterThan(SECOND).isLessThan(SECOND * 11 / 10);
    assertThat(client.session.published()).isEqualTo(4);
    assertThat(quotas.waits()).containsEntry("publish_events", 1L);
    now += client.link.laterNanos;
    assertThat(client.say(frame)).isEqualTo(frame.length);
    assertThat(client.session.published()).isEqualTo(8);
    assertThat(client.session.awaitsRoom()).isFalse();
    assertThat(client.link.closed).isEmpty();
    assertThat(client.link.sent).as("nobody is told").isEmpty();
  }

  @Test
  void bytesCountAsTheyCame() {
    byte[] frame = publish("x".repeat(100));
    given = limited(Quota.PUBLISH_BYTES, 50);
    Client client = new Client().hello(null);
    assertThat(client.say(frame)).isEqualTo(frame.length);
    assertThat(client.say(frame)).isZero();
    assertThat(client.link.laterNanos).isGreaterThan(SECOND);
  }

  private static byte[] longRequest(long call, String service) {
    return ControlFrames.encode(
        TypeCode.REQUEST, SampleCalls.request(call, service, "x".repeat(100)));
  }

  /** Serves all calls, and returns their numbers. */
  private static List<Long> invoked(Client member, Client caller, int calls) {
    member.say(
        ControlFrames.encode(
            TypeCode.REGISTER,
            new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
    member.link.taken();
    for (int i = 1; i <= calls; i++) {
      caller.say(request(i));
    }
    return member.link.taken().stream().map(sent -> ((Invoke) sent).getCall()).toList();
  }

  /** Asserts that a frame waits for the quota, and passes afterwards. */
  private void assertWaits(Client client, byte[] frame) {
    assertThat(client.say(frame)).as("nothing was handled").isZero();
    assertThat(client.session.awaitsRoom()).as("credit does not hold").isTrue();
    assertThat(client.link.laterNanos).isGreaterThan(SECOND);
    now += client.link.laterNanos;
    assertThat(client.say(frame)).isEqualTo(frame.length);
    assertThat(client.session.awaitsRoom()).isFalse();
    assertThat(client.link.closed).isEmpty();
  }

  @Test
  void requestsCountWithTheirBytesAndInOneBucketWithEvents() {
    given = limited(Quota.PUBLISH_BYTES, 50);
    Client client = new Client().hello(null);
    byte[] request = longRequest(1, "nobody");
    assertThat(client.say(request)).isEqualTo(request.length);
    assertWaits(client, longRequest(2, "nobody"));
    assertThat(quotas.waits()).containsEntry("publish_bytes", 1L);
    Client publisher = new Client().hello(null);
    assertWaits(publisher, publish("x".repeat(100)));
    assertWaits(client, longRequest(3, "nobody"));
    assertThat(client.say(ControlFrames.encode(TypeCode.CANCEL, new Cancel(9L, ""))))
        .as("what carries nothing is handled")
        .isPositive();
  }

  @Test
  void requestsGoOnWithAQuotaOfEventsOnly() {
    given = limited(Quota.PUBLISH_EVENTS, 1);
    Client client = new Client().hello(null);
    client.say(publish("1", "2", "3"));
    byte[] request = longRequest(1, "nobody");
    assertThat(client.say(request)).isEqualTo(request.length);
    assertThat(client.session.awaitsRoom()).isFalse();
  }

  @Test
  void answersCountWithTheirBytes() {
    Client caller = new Client().hello(null);
    given = limited(Quota.PUBLISH_BYTES, 50);
    Client member = new Client().hello(null);
    List<Long> calls = invoked(member, caller, 3);
    byte[] reply =
        ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(calls.get(0), "y".repeat(100)));
    assertThat(member.say(reply)).isEqualTo(reply.length);
    assertWaits(
        member,
        ControlFrames.encode(
            TypeCode.FAILURE,
            new Failure(
                calls.get(1),
                FailureCode.FAILED,
                "",
                Execution.YES,
                0L,
                0L,
                "",
                ByteBuffer.allocate(100),
                false)));
    assertWaits(
        member,
        ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(calls.get(2), "y".repeat(100))));
    context.trim();
  }

  @Test
  void dataOfTunnelsCountsWithItsBytes() {
    given = limited(Quota.PUBLISH_BYTES, 50);
    Client client = new Client().hello(null);
    byte[] data =
        ControlFrames.encode(
            TypeCode.DATA, new Data(7L, 0L, false, false, ByteBuffer.allocate(100)));
    assertThat(client.say(data)).isEqualTo(data.length);
    assertWaits(client, data);
  }

  @Test
  void aRequestThatWaitsIsNotPutBehindAnEventThatWaits() {
    given = limited(Quota.PUBLISH_BYTES, 50);
    Client client = new Client().hello(null);
    client.say(longRequest(1, "nobody"));
    byte[] event = publish("x");
    assertThat(client.say(event)).as("it waits with what comes behind it").isEqualTo(event.length);
    Runnable resume = Objects.requireNonNull(client.link.retry);
    byte[] request = longRequest(2, "nobody");
    assertThat(client.say(request)).isZero();
    now += 4 * SECOND;
    context.budget().renew();
    resume.run();
    client.link.turns.forEach(Runnable::run);
    assertThat(client.session.published()).isEqualTo(1);
    assertThat(client.say(request)).isEqualTo(request.length);
  }

  @Test
  void otherFramesGoOnMeanwhile() {
    given = limited(Quota.PUBLISH_EVENTS, 1);
    Client client = new Client().hello(null);
    client.say(publish("1", "2", "3"));
    client.link.taken();
    client.say(subscribe(1));
    assertThat(client.link.taken()).hasSize(1).first().isInstanceOf(Confirm.class);
  }

  @Test
  void tooManySubscriptionsAreRefusedUntilOneEnds() {
    given = limited(Quota.SUBSCRIPTIONS, 2);
    Client one = new Client().hello(null);
    Client two = new Client().hello(null);
    one.say(subscribe(1));
    two.say(subscribe(1));
    two.link.taken();
    two.say(subscribe(2));
    Problem problem = two.problem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    assertThat(problem.getAbout()).isEqualTo(2);
    assertThat(problem.getMessage()).contains("2 subscriptions").contains("quota subscriptions");
    assertThat(two.session.subscriptions().size()).isEqualTo(1);
    one.say(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    two.say(subscribe(2));
    assertThat(two.session.subscriptions().size()).isEqualTo(2);
  }

  private static byte[] request(long call) {
    return ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(call, "orders", "x"));
  }

  private static Failure failure(Client client) {
    List<Object> sent = client.link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Failure.class);
    return (Failure) sent.get(0);
  }

  @Test
  void refusesTooManyRequestsWithARetryAfter() {
    given = limited(Quota.REQUESTS, 2);
    Client client = new Client().hello(null);
    client.link.taken();
    for (int i = 1; i <= 2; i++) {
      client.say(request(i));
      assertThat(failure(client).getCode()).isEqualTo(FailureCode.NO_MEMBER);
    }
    client.say(request(3));
    Failure refused = failure(client);
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
    assertThat(refused.getMessage()).contains("at most 2, quota requests");
    assertThat(refused.getRetryAfterMillis()).isBetween(1L, 501L);
    now += refused.getRetryAfterMillis() * 1_000_000;
    client.say(request(4));
    assertThat(failure(client).getCode()).isEqualTo(FailureCode.NO_MEMBER);
  }

  @Test
  void queriesToTheBusCountAsRequests() {
    given = limited(Quota.REQUESTS, 2);
    Client client = new Client().hello(null);
    client.link.taken();
    for (int i = 1; i <= 2; i++) {
      client.say(ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(i, "$bus", "x")));
    }
    client.link.taken();
    client.say(ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(3, "$bus", "x")));
    Failure refused = failure(client);
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getMessage()).contains("at most 2, quota requests");
    assertThat(quotas.find("acme", "u1").get(0).calls()).as("in flight").isZero();
  }

  @Test
  void tooManyCallsAreRefusedUntilNoMemberHasOneAnyMore() {
    given = limited(Quota.CALLS, 1);
    Client member = new Client().hello(null);
    Client one = new Client().hello(null);
    Client two = new Client().hello(null);
    member.say(
        ControlFrames.encode(
            TypeCode.REGISTER,
            new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
    List.of(member, one, two).forEach(client -> client.link.taken());
    one.say(request(1));
    long call = ((Invoke) member.link.taken().get(0)).getCall();
    two.say(request(1));
    Failure refused = failure(two);
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getMessage()).contains("1 calls in flight").contains("quota calls");
    assertThat(refused.getRetryAfterMillis()).isPositive();
    one.say(ControlFrames.encode(TypeCode.CANCEL, new Cancel(1L, "")));
    assertThat(failure(one).getCode()).isEqualTo(FailureCode.CANCELLED);
    two.say(request(2));
    assertThat(failure(two).getCode()).as("a member has it").isEqualTo(FailureCode.OVERLOADED);
    member.say(ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(call, "y")));
    member.link.taken();
    two.say(request(3));
    assertThat(two.link.sent).isEmpty();
    assertThat(quotas.find("acme", "u1").get(0).calls()).isEqualTo(1);
    long last = ((Invoke) member.link.taken().get(0)).getCall();
    member.say(ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(last, "y")));
    assertThat(quotas.find("acme", "u1").get(0).calls()).isZero();
    context.trim();
  }

  @Test
  void aRequestToAllMembersCountsForEachOfThem() {
    given = limited(Quota.CALLS, 2);
    Client first = new Client().hello(null);
    Client second = new Client().hello(null);
    Client caller = new Client().hello(null);
    for (Client member : List.of(first, second)) {
      member.say(
          ControlFrames.encode(
              TypeCode.REGISTER,
              new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
    }
    List.of(first, second, caller).forEach(client -> client.link.taken());
    Request all = SampleCalls.request(1, "orders", "");
    all.setScope(CallScope.ALL);
    caller.say(ControlFrames.encode(TypeCode.REQUEST, all));
    assertThat(quotas.find("acme", "u1").get(0).calls()).isEqualTo(2);
    caller.say(request(2));
    assertThat(failure(caller).getMessage()).contains("quota calls");
    for (Client member : List.of(first, second)) {
      long call = ((Invoke) member.link.taken().get(0)).getCall();
      member.say(ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(call, "y")));
    }
    assertThat(quotas.find("acme", "u1").get(0).calls()).isZero();
    context.trim();
  }

  @Test
  void aRequestToMoreMembersThanThereMayBeCallsIsRefused() {
    given = limited(Quota.CALLS, 1);
    Client first = new Client().hello(null);
    Client second = new Client().hello(null);
    Client caller = new Client().hello(null);
    for (Client member : List.of(first, second)) {
      member.say(
          ControlFrames.encode(
              TypeCode.REGISTER,
              new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
    }
    List.of(first, second, caller).forEach(client -> client.link.taken());
    Request all = SampleCalls.request(1, "orders", "");
    all.setScope(CallScope.ALL);
    caller.say(ControlFrames.encode(TypeCode.REQUEST, all));
    Failure refused = failure(caller);
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getMessage()).contains("each of 2 members").contains("quota calls");
    assertThat(first.link.sent).isEmpty();
    assertThat(quotas.find("acme", "u1").get(0).calls()).isZero();
    context.trim();
  }

  @Test
  void aTunnelCountsAsACallUntilItHasEnded() {
    given = limited(Quota.CALLS, 1);
    Client member = new Client().hello(null);
    Client caller = new Client().hello(null);
    member.say(
        ControlFrames.encode(
            TypeCode.REGISTER,
            new Register(1L, "orders", 4, false, "", Map.of(), Overflow.DROP_OLDEST)));
    List.of(member, caller).forEach(client -> client.link.taken());
    Request tunnel = SampleCalls.request(1, "orders", "");
    tunnel.setKind(CallKind.TUNNEL);
    tunnel.setLimit(1_000L);
    caller.say(ControlFrames.encode(TypeCode.REQUEST, tunnel));
    long call = ((Invoke) member.link.taken().get(0)).getCall();
    Reply accepts = SampleCalls.reply(call, "y");
    accepts.setLimit(1_000L);
    member.say(ControlFrames.encode(TypeCode.REPLY, accepts));
    caller.link.taken();
    assertThat(quotas.find("acme", "u1").get(0).calls()).isEqualTo(1);
    caller.say(request(2));
    assertThat(failure(caller).getMessage()).contains("quota calls");
    caller.say(ControlFrames.encode(TypeCode.CANCEL, new Cancel(1L, "")));
    assertThat(quotas.find("acme", "u1").get(0).calls()).isZero();
    caller.link.taken();
    member.link.taken();
    context.trim();
  }

  @Test
  void aNewTokenBringsItsOwnQuotas() {
    Client client = new Client().hello(null);
    client.say(subscribe(1));
    client.say(subscribe(2));
    client.link.taken();
    given = limited(Quota.SUBSCRIPTIONS, 2);
    byte[] renew = ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate("token", null));
    client.say(renew);
    assertThat(client.link.taken()).hasSize(1).first().isInstanceOf(Confirm.class);
    assertThat(quotas.find("acme", "u1").get(0).subscriptions()).isEqualTo(2);
    client.say(subscribe(3));
    assertThat(client.problem().getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    given = limited(Quota.SUBSCRIPTIONS, 1);
    client.say(renew);
    client.link.taken();
    assertThat(client.session.subscriptions().size()).as("what is there stays").isEqualTo(2);
    given = ClientQuotas.NONE;
    client.say(renew);
    client.link.taken();
    client.say(subscribe(3));
    assertThat(client.session.subscriptions().size()).isEqualTo(3);
    assertThat(quotas.find("acme", "u1")).isEmpty();
  }

  @Test
  void aPageMayNotStallPublishers() {
    Client client = new Client().hello(null);
    client.link.taken();
    client.link.mayBlock = false;
    client.say(subscribe(1));
    Problem problem = client.problem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(problem.getMessage()).contains("listen.browser-block").contains("DROP_OLDEST");
    client.say(
        ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(1L, "a", null, Overflow.CONFLATE)));
    assertThat(client.session.subscriptions().size()).isEqualTo(1);
  }
}
