package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleRules;
import io.eventbus.server.samples.TestClock;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Client that shows a new token while it is connected, with its permissions. */
class TokenRenewalTest {
  private static final long NOW = 77;
  private static final long MILLI = 1_000_000;

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final Authentications authentications = new Authentications(authenticator);
  private final TestClock clock = new TestClock(1_000_000);
  // Nanoseconds of each reading of the clock.
  private long step;
  private long nanos;
  private final WorkBudget budget = new WorkBudget(() -> nanos += step);
  private final SessionFixture bus = new SessionFixture(clock, authentications).budget(budget);
  private final LoopContext context = bus.context();
  private final FakeLink link = new FakeLink();
  private final Session session = link.session(context);

  private final byte[] hello =
      ControlFrames.encode(
          TypeCode.HELLO, new Hello("client", "agent/1", "old", null, Map.of(), null, null, null));

  @AfterEach
  void assertNoLeaks() {
    session.onClosed();
    assertThat(authentications.waiting()).isZero();
    assertThat(bus.memory.used()).isZero();
    assertThat(bus.index.size()).isZero();
    assertThat(bus.sessions.size()).isZero();
  }

  private void handle(Session of, byte[] message) {
    budget.renew();
    assertThat(of.onMessage(ByteBuffer.wrap(message), 0, message.length, NOW, () -> {}))
        .isEqualTo(message.length);
  }

  private void handle(byte[] message) {
    handle(session, message);
  }

  private static FilterRules only(String allow) {
    return SampleRules.of(List.of(TopicFilter.parse(allow)), List.of(), "role r");
  }

  private Authentication.Accepted client(
      String account, String subject, AuthenticationMethod method, Permissions permissions) {
    return new Authentication.Accepted(
        new Principal(
            account, subject, method, permissions, null, clock.instant().plusSeconds(60)));
  }

  private Authentication.Accepted client(Map<Action, FilterRules> limited) {
    Authentication.Accepted all = (Authentication.Accepted) FakeAuthenticator.accepted(limited);
    return client("acme", "u1", AuthenticationMethod.JWT, all.principal().permissions());
  }

  private void admit(Session of, Authentication as) {
    of.onMessage(ByteBuffer.wrap(hello), 0, hello.length, NOW, () -> {});
    authenticator.last().complete(as);
    handle(of, hello);
    assertThat(of.isWelcomed()).isTrue();
  }

  private void admit(Authentication as) {
    admit(session, as);
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Welcome.class);
  }

  private void renew() {
    handle(ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate("new", null)));
  }

  private void renew(Authentication answer) {
    renew();
    assertThat(link.sent).as("no answer before there is one").isEmpty();
    authenticator.last().complete(answer);
  }

  private void subscribe(long id, String filter, Overflow overflow) {
    handle(ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, filter, null, overflow)));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.SUBSCRIBE.code(), id, "", -1L, 0L, false, 0L));
  }

  private Confirm confirm() {
    return new Confirm(
        TypeCode.AUTHENTICATE.code(),
        session.principal().expiresAt() == null ? 0 : session.admission().expiresAtMicros(),
        "",
        -1L,
        0L,
        false,
        0L);
  }

  private Problem refused(ErrorCode code, boolean retryable) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(code);
    assertThat(problem.getTypeCode()).isEqualTo(TypeCode.AUTHENTICATE.code());
    assertThat(problem.getRetryable()).isEqualTo(retryable);
    assertThat(link.closed).isEmpty();
    return problem;
  }

  @Test
  void aNewTokenLetsTheClientStayLonger() {
    admit(client(Map.of()));
    clock.advance(50_000);
    renew(client(Map.of()));
    assertThat(authenticator.asked)
        .containsExactly(
            new Credentials("old", "client", true), new Credentials("new", "client", true));
    Instant expires = clock.instant().plusSeconds(60);
    assertThat(link.taken())
        .containsExactly(
            new Confirm(
                TypeCode.AUTHENTICATE.code(),
                expires.toEpochMilli() * 1000,
                "",
                -1L,
                0L,
                false,
                0L));
    clock.advance(60_000);
    session.onTick(NOW);
    assertThat(link.closed).as("the first token has ended its 100 s").isEmpty();
    clock.advance(40_001);
    session.onTick(NOW);
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.EXPIRED);
  }

  @Test
  void theClientGoesOnWhileItsTokenIsChecked() {
    admit(client(Map.of()));
    renew();
    handle(SampleFrames.publish("a", 1, true, "x"));
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Confirm.class);
    authenticator.last().complete(client(Map.of()));
    assertThat(link.taken()).containsExactly(confirm());
  }

  @Test
  void checksTokensOneAtATime() {
    admit(client(Map.of()));
    renew();
    renew();
    refused(ErrorCode.LIMIT_EXCEEDED, true);
    assertThat(authenticator.asked).hasSize(2);
    authenticator.last().complete(client(Map.of()));
    assertThat(link.taken()).containsExactly(confirm());
    renew(client(Map.of()));
    assertThat(link.taken()).containsExactly(confirm());
  }

  @Test
  void aWrongTokenChangesNothing() {
    Authentication.Accepted first = client(Map.of());
    admit(first);
    renew(new Authentication.Refused("no", "is on the list"));
    assertThat(refused(ErrorCode.UNAUTHENTICATED, false).getMessage())
        .contains("not ones that this bus accepts")
        .doesNotContain("list");
    assertThat(link.failures).containsExactly("is on the list");
    assertThat(session.principal()).isSameAs(first.principal());
  }

  @Test
  void delaysTheRefusalOfAGuesser() {
    admit(client(Map.of()));
    link.late = true;
    renew(new Authentication.Refused("no", "is on the list"));
    assertThat(link.sent).isEmpty();
    renew();
    refused(ErrorCode.LIMIT_EXCEEDED, true);
    Runnable retry = link.retry;
    assertThat(retry).isNotNull();
    retry.run();
    refused(ErrorCode.UNAUTHENTICATED, false);
    assertThat(link.failures).hasSize(1);
  }

  @Test
  void aTokenThatCannotBeCheckedInTimeIsTriedAgain() {
    admit(client(Map.of()));
    renew();
    session.onTick(NOW + Authentications.MAX_WAIT.toNanos() + 1);
    refused(ErrorCode.OVERLOADED, true);
    authenticator.last().complete(client(Map.of()));
    assertThat(link.sent).as("too late").isEmpty();
  }

  @Test
  void knowsTheOriginOfNewCredentials() {
    admit(client(Map.of()));
    link.address = "203.0.113.7";
    link.late = true;
    renew();
    assertThat(authenticator.asked)
        .extracting(Credentials::origin)
        .containsExactly(null, new Origin("203.0.113.7", true));
  }

  @Test
  void refusesAnotherClientsToken() {
    Authentication.Accepted first = client(Map.of());
    Permissions all = first.principal().permissions();
    admit(first);
    for (Authentication other :
        List.of(
            client("other", "u1", AuthenticationMethod.JWT, all),
            client("acme", "u2", AuthenticationMethod.JWT, all),
            client("acme", "u1", AuthenticationMethod.PASSWORD, all))) {
      renew(other);
      assertThat(refused(ErrorCode.UNAUTHENTICATED, false).getMessage()).contains("another client");
      assertThat(session.principal()).isSameAs(first.principal());
    }
    assertThat(link.failures)
        .hasSize(3)
        .allMatch(text -> text.startsWith("showed credentials of another client in Authenticate"));
  }

  @Test
  void delaysTheRefusalOfForeignTokens() {
    admit(client(Map.of()));
    link.late = true;
    renew(client("acme", "u2", AuthenticationMethod.JWT, session.principal().permissions()));
    assertThat(link.sent).isEmpty();
    Runnable retry = link.retry;
    assertThat(retry).isNotNull();
    retry.run();
    refused(ErrorCode.UNAUTHENTICATED, false);
    assertThat(link.failures).hasSize(1);
    assertThat(authentications.waiting()).isZero();
  }

  @Test
  void endsWhatNewPermissionsForbid() {
    admit(client(Map.of()));
    subscribe(1, "user.one", Overflow.DROP_OLDEST);
    subscribe(2, "other", Overflow.DROP_OLDEST);
    subscribe(3, "user.two", Overflow.BLOCK);
    handle(SampleFrames.publish("other", 1, false, "x"));
    assertThat(link.sent).isEmpty();
    renew(
        client(
            Map.of(
                Action.SUBSCRIBE, only("user.>"),
                Action.BLOCK, FilterRules.nothing("role r"),
                Action.PUBLISH, only("user.>"))));
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(3);
    for (int i = 0; i < 2; i++) {
      Problem problem = (Problem) sent.get(i);
      assertThat(problem.getCode()).isEqualTo(ErrorCode.FORBIDDEN);
      assertThat(problem.getTypeCode()).isEqualTo(TypeCode.SUBSCRIBE.code());
    }
    assertThat(sent)
        .filteredOn(Problem.class::isInstance)
        .extracting(problem -> ((Problem) problem).getAbout())
        .containsExactlyInAnyOrder(2L, 3L);
    assertThat(sent.get(2)).as("behind what it has changed").isEqualTo(confirm());
    bus.loops.runAll();
    assertThat(link.taken()).containsExactlyInAnyOrder(new Drained(2L), new Drained(3L));
    assertThat(session.subscriptions().size()).isEqualTo(1);
    assertThat(bus.index.accounts().subscriptions()).isEqualTo(1);
    handle(SampleFrames.publish("other", 2, false, "x"));
    assertThat(((Problem) link.taken().get(0)).getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    handle(SampleFrames.publish("user.one", 1, true, "x"));
    assertThat(link.taken()).noneMatch(Problem.class::isInstance);
    handle(
        ControlFrames.encode(
            TypeCode.SUBSCRIBE, new Subscribe(4L, "other", null, Overflow.DROP_OLDEST)));
    assertThat(((Problem) link.taken().get(0)).getCode()).isEqualTo(ErrorCode.FORBIDDEN);
  }

  @Test
  void reviewsManySubscriptionsInSeveralTicks() {
    admit(client(Map.of()));
    for (int i = 0; i < 50; i++) {
      subscribe(i, "a" + i, Overflow.DROP_OLDEST);
    }
    budget.nextWindow();
    step = MILLI;
    renew(client(Map.of(Action.SUBSCRIBE, only("b"))));
    int left = session.subscriptions().size();
    assertThat(left).isBetween(35, 45);
    session.onTick(NOW);
    assertThat(session.subscriptions().size()).as("this window is used up").isEqualTo(left);
    assertThat(link.sent).doesNotContain(confirm());
    renew();
    assertThat(((Problem) link.sent.get(link.sent.size() - 1)).getCode())
        .isEqualTo(ErrorCode.LIMIT_EXCEEDED);
    for (int i = 0; i < 5; i++) {
      budget.nextWindow();
      session.onTick(NOW);
    }
    assertThat(session.subscriptions().size()).isZero();
    assertThat(link.taken()).last().isEqualTo(confirm());
  }

  @Test
  void closesAnExpiredClientAlthoughOthersRenew() {
    FakeLink other = new FakeLink();
    Session expires = other.session(context);
    admit(expires, client(Map.of()));
    clock.advance(50_000);
    admit(client(Map.of()));
    for (int i = 0; i < 50; i++) {
      subscribe(i, "a" + i, Overflow.DROP_OLDEST);
    }
    clock.advance(50_001);
    budget.nextWindow();
    step = MILLI;
    renew(client(Map.of(Action.SUBSCRIBE, only("b"))));
    for (int i = 0; i < 2; i++) {
      session.onTick(NOW);
    }
    assertThat(session.subscriptions().size()).as("this window is used up").isNotZero();
    assertThat(other.closed).isEmpty();
    expires.onTick(NOW);
    assertThat(other.closed).hasSize(1);
  }

  @Test
  void theEndOfTheConnectionEndsTheCheck() {
    admit(client(Map.of()));
    renew();
    session.onClosed();
    assertThat(authenticator.last()).isCancelled();
    assertThat(link.sent).isEmpty();
  }

  @Test
  void thousandsThatExpireTogetherAreClosedInSeveralTicks() {
    int many = 10_000;
    List<Session> all = new ArrayList<>();
    List<FakeLink> links = new ArrayList<>();
    Authentication as = client(Map.of());
    for (int i = 0; i < many; i++) {
      FakeLink each = new FakeLink();
      Session one = each.session(context);
      admit(one, as);
      links.add(each);
      all.add(one);
    }
    clock.advance(100_001);
    // Each takes 50 microseconds.
    step = MILLI / 20;
    int closed = 0;
    int ticks = 0;
    while (closed < many) {
      budget.nextWindow();
      all.forEach(one -> one.onTick(NOW));
      int now = (int) links.stream().filter(each -> !each.closed.isEmpty()).count();
      assertThat(now - closed).as("closed in a tick").isBetween(1, 500);
      closed = now;
      ticks++;
    }
    assertThat(ticks).isGreaterThan(20);
    all.forEach(Session::onClosed);
  }
}
