package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
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
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Session whose client is authenticated some time after its Hello, with its permissions. */
class LateAnswerToHelloTest {
  private static final long NOW = 77;
  private static final long MAX = Authentications.MAX_WAIT.toNanos();

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final Authentications authentications = new Authentications(authenticator);
  private final TestClock clock = new TestClock(1_000_000);
  private final SessionFixture bus = new SessionFixture(clock, authentications);
  private final FakeLink link = new FakeLink();
  private final Session session = link.session(bus.context());
  private final AtomicInteger retries = new AtomicInteger();

  private final byte[] hello =
      ControlFrames.encode(
          TypeCode.HELLO,
          new Hello("client", "agent/1", "s3cret", null, Map.of("a", "b"), null, null, null));

  @AfterEach
  void assertNoLeaks() {
    session.onClosed();
    assertThat(authentications.waiting()).isZero();
    assertThat(bus.memory.used()).isZero();
    assertThat(bus.index.size()).isZero();
    assertThat(bus.sessions.size()).isZero();
  }

  /** Returns how many bytes were handled. */
  private int handle(byte[] message) {
    return session.onMessage(
        ByteBuffer.wrap(message), 0, message.length, NOW, retries::incrementAndGet);
  }

  private void handleAll(byte[] message) {
    assertThat(handle(message)).isEqualTo(message.length);
  }

  private void park() {
    assertThat(handle(hello)).as("nothing was handled").isZero();
    assertThat(session.isAuthenticating()).isTrue();
    assertThat(session.isWelcomed()).isFalse();
    assertThat(link.sent).isEmpty();
    assertThat(retries).hasValue(0);
  }

  private void answer(Authentication answer) {
    authenticator.last().complete(answer);
    assertThat(retries).hasValue(1);
    handleAll(hello);
  }

  private void admit(Map<Action, FilterRules> limited) {
    park();
    answer(FakeAuthenticator.accepted(limited));
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Welcome.class);
  }

  private static FilterRules rules(String allow, String deny) {
    return SampleRules.of(
        List.of(TopicFilter.parse(allow)), List.of(TopicFilter.parse(deny)), "role r");
  }

  private Problem problem(ErrorCode code) {
    List<Object> sent = link.taken();
    assertThat(sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) sent.get(0);
    assertThat(problem.getCode()).isEqualTo(code);
    return problem;
  }

  @Test
  void theClientIsWelcomedWhenItIsKnown() {
    park();
    assertThat(authenticator.asked).containsExactly(new Credentials("s3cret", "client", true));
    assertThat(session.principal()).isSameAs(Principal.UNKNOWN);
    answer(FakeAuthenticator.everything());
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Welcome.class);
    assertThat(session.principal().subject()).isEqualTo("subject");
    assertThat(session.isAuthenticating()).isFalse();
    assertThat(authenticator.asked).as("it is asked once").hasSize(1);
  }

  @Test
  void aCallTooEarlyChangesNothing() {
    park();
    park();
    assertThat(authenticator.asked).hasSize(1);
    authenticator.last().complete(FakeAuthenticator.everything());
    handleAll(hello);
    assertThat(link.sent).hasSize(1);
  }

  @Test
  void framesBehindHelloWaitWithIt() {
    byte[] publish = SampleFrames.publish("a", 1, true, "x");
    byte[] both =
        ByteBuffer.allocate(hello.length + publish.length).put(hello).put(publish).array();
    assertThat(handle(both)).isZero();
    assertThat(link.sent).isEmpty();
    authenticator.last().complete(FakeAuthenticator.everything());
    handleAll(both);
    assertThat(link.taken()).hasSize(2).first().isInstanceOf(Welcome.class);
    assertThat(session.published()).isEqualTo(1);
  }

  @Test
  void aSecondHelloIsRefusedAfterALateAnswer() {
    admit(Map.of());
    handleAll(hello);
    problem(ErrorCode.PROTOCOL_VIOLATION);
    assertThat(link.closed).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLateRefusalIsOneAsWell(boolean often) {
    link.late = often;
    park();
    authenticator.last().complete(new Authentication.Refused("no", "is on the list"));
    if (often) {
      assertThat(handle(hello)).isZero();
      assertThat(link.sent).isEmpty();
    }
    handleAll(hello);
    assertThat(link.failures).containsExactly("is on the list");
    assertThat(problem(ErrorCode.UNAUTHENTICATED).getMessage()).isEqualTo("no");
    assertThat(link.closed).containsExactly(new FakeLink.Closed(CloseReason.UNAUTHENTICATED, "no"));
  }

  @Test
  void anAnswerThatNeverComesEndsTheConnectionAndIsNoFailureOfTheClient() {
    park();
    session.onTick(NOW + MAX);
    assertThat(retries).hasValue(0);
    session.onTick(NOW + MAX + 1);
    assertThat(retries).hasValue(1);
    handleAll(hello);
    assertThat(problem(ErrorCode.OVERLOADED).getRetryable()).isTrue();
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.OVERLOADED);
    assertThat(link.failures).isEmpty();
    authenticator.last().complete(FakeAuthenticator.everything());
    assertThat(session.isWelcomed()).isFalse();
  }

  @Test
  void aFailingCheckAdmitsNobody() {
    park();
    authenticator.last().completeExceptionally(new IllegalStateException("secret detail"));
    handleAll(hello);
    assertThat(problem(ErrorCode.OVERLOADED).getMessage()).doesNotContain("secret");
    assertThat(link.closed).hasSize(1);
    assertThat(session.isWelcomed()).isFalse();
    assertThat(session.principal()).isSameAs(Principal.UNKNOWN);
  }

  @Test
  void anAnswerAfterTheEndIsForNobody() {
    park();
    session.onClosed();
    assertThat(authenticator.last()).isCancelled();
    assertThat(authentications.waiting()).isZero();
    authenticator.last().complete(FakeAuthenticator.everything());
    assertThat(retries).as("the connection is not called").hasValue(0);
    session.onTick(NOW + MAX + 1);
    assertThat(link.sent).isEmpty();
    assertThat(session.isWelcomed()).isFalse();
  }

  @Test
  void onlySomeTopicsMayBePublishedTo() {
    admit(Map.of(Action.PUBLISH, rules("user.*", "user.root")));
    for (int i = 0; i < 3; i++) {
      handleAll(SampleFrames.publish("user.one", i + 1L, false, "x"));
      handleAll(SampleFrames.publish("user.two", i + 1L, false, "x"));
      assertThat(link.sent).isEmpty();
      handleAll(SampleFrames.publish("user.root", 7, true, "x"));
      Problem problem = problem(ErrorCode.FORBIDDEN);
      assertThat(problem.getMessage())
          .isEqualTo(
              "publish to 'user.root' is not allowed to this client (role r; expected: a topic that"
                  + " is)");
      assertThat(problem.getTopic()).isEqualTo("user.root");
      assertThat(problem.getAbout()).isEqualTo(7);
      assertThat(problem.getTypeCode()).isEqualTo(TypeCode.PUBLISH.code());
      handleAll(SampleFrames.publish("other", 1, false, "x"));
      problem(ErrorCode.FORBIDDEN);
    }
    assertThat(session.published()).isEqualTo(6);
    assertThat(link.closed).isEmpty();
  }

  private List<ErrorCode> subscribe(String filter, Overflow overflow) {
    handleAll(ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(1L, filter, null, overflow)));
    List<ErrorCode> codes = new ArrayList<>();
    for (Object sent : link.taken()) {
      if (sent instanceof Problem problem) {
        codes.add(problem.getCode());
      }
    }
    return codes;
  }

  @ParameterizedTest
  @ValueSource(strings = {">", "*.one", "other", "user.>", "user.*", "user.root"})
  void aFilterHasToLieInWhatIsAllowed(String filter) {
    admit(Map.of(Action.SUBSCRIBE, rules("user.>", "user.root")));
    assertThat(subscribe(filter, Overflow.DROP_OLDEST)).containsExactly(ErrorCode.FORBIDDEN);
    assertThat(subscribe("user.one", Overflow.DROP_OLDEST)).isEmpty();
    assertThat(session.subscriptions().size()).isEqualTo(1);
  }

  @Test
  void systemTopicsNeedTheirOwnPermission() {
    admit(
        Map.of(
            Action.SUBSCRIBE,
            FilterRules.nothing("role r"),
            Action.OBSERVE,
            rules("$SYS.>", "$SYS.audit.>")));
    assertThat(subscribe("a", Overflow.DROP_OLDEST)).containsExactly(ErrorCode.FORBIDDEN);
    assertThat(subscribe("$SYS.audit.x", Overflow.DROP_OLDEST))
        .containsExactly(ErrorCode.FORBIDDEN);
    assertThat(subscribe("$SYS.bus", Overflow.DROP_OLDEST)).isEmpty();
  }

  @Test
  void refusesABlockPolicyOutsideTheAllowedTopics() {
    admit(Map.of(Action.BLOCK, rules("mine.>", "mine.not")));
    assertThat(subscribe("other", Overflow.BLOCK)).containsExactly(ErrorCode.FORBIDDEN);
    assertThat(subscribe("mine.>", Overflow.BLOCK)).containsExactly(ErrorCode.FORBIDDEN);
    assertThat(subscribe("mine.a", Overflow.BLOCK)).isEmpty();
  }

  private static Authentication named(String account, String subject, Instant expires) {
    Authentication.Accepted all = (Authentication.Accepted) FakeAuthenticator.everything();
    return new Authentication.Accepted(
        new Principal(
            account,
            subject,
            AuthenticationMethod.JWT,
            all.principal().permissions(),
            null,
            expires));
  }

  @Test
  void fortySecondsAfterItsExpiryAClientIsClosed() {
    park();
    authenticator.last().complete(named("", "u1", clock.instant().plusSeconds(5)));
    handleAll(hello);
    Welcome welcome = (Welcome) link.taken().get(0);
    assertThat(welcome.getExpiresAt()).isEqualTo((clock.millis() + 5_000) * 1_000);
    clock.advance(45_000);
    session.onTick(NOW);
    assertThat(link.closed).isEmpty();
    clock.advance(1);
    session.onTick(NOW);
    assertThat(link.sent).hasSize(1).first().isInstanceOf(Problem.class);
    Problem problem = (Problem) link.sent.get(0);
    assertThat(problem.getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
    assertThat(problem.getRetryable()).isTrue();
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.EXPIRED);
    session.onTick(NOW);
    assertThat(link.closed).hasSize(1);
  }

  /** Returns the welcome of a client with this name, on a separate connection. */
  private Welcome welcomed(FakeLink to, Session of, String subject, @Nullable String resume) {
    byte[] own =
        ControlFrames.encode(
            TypeCode.HELLO,
            new Hello("client", "agent/1", "t", resume, Map.of(), null, null, null));
    of.onMessage(ByteBuffer.wrap(own), 0, own.length, NOW, retries::incrementAndGet);
    authenticator.last().complete(named("acme", subject, clock.instant().plusSeconds(60)));
    of.onMessage(ByteBuffer.wrap(own), 0, own.length, NOW, retries::incrementAndGet);
    assertThat(to.sent).hasSize(1).first().isInstanceOf(Welcome.class);
    return (Welcome) to.sent.get(0);
  }

  @Test
  void aStolenResumeTakesNobodysPlace() {
    LoopContext context = bus.context();
    Session[] all = new Session[3];
    FakeLink[] links = new FakeLink[3];
    for (int i = 0; i < 3; i++) {
      links[i] = new FakeLink();
      all[i] = links[i].session(context);
    }
    Welcome alice = welcomed(links[0], all[0], "alice", null);
    Welcome thief = welcomed(links[1], all[1], "mallory", alice.getResume());
    assertThat(thief.getProducer()).isNotEqualTo(alice.getProducer());
    assertThat(links[0].closed).isEmpty();
    Welcome again = welcomed(links[2], all[2], "alice", alice.getResume());
    assertThat(again.getProducer()).isEqualTo(alice.getProducer());
    assertThat(links[0].closed).hasSize(1);
    assertThat(links[0].closed.get(0).reason()).isEqualTo(CloseReason.REPLACED);
    for (Session each : all) {
      each.onClosed();
    }
  }
}
