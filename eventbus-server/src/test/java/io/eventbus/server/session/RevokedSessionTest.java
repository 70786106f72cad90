package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.TestClock;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients whose credentials are revoked while they are connected. */
class RevokedSessionTest {
  private static final long NOW = 77;
  private static final long MILLI = 1_000_000;

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final Authentications authentications = new Authentications(authenticator);
  private final TestClock clock = new TestClock(1_000_000);
  // Nanoseconds of each reading of the clock.
  private long step;
  private long nanos;
  private final WorkBudget budget = new WorkBudget(() -> nanos += step);
  private final List<Advisory> audited = new ArrayList<>();
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

  private void admit(
      String account, String subject, AuthenticationMethod method, @Nullable Instant issuedAt) {
    bus.advisories.audit(audited::add);
    Permissions all =
        ((Authentication.Accepted) FakeAuthenticator.accepted(Map.of())).principal().permissions();
    session.onMessage(ByteBuffer.wrap(hello), 0, hello.length, NOW, () -> {});
    authenticator
        .last()
        .complete(
            new Authentication.Accepted(
                new Principal(account, subject, method, all, issuedAt, null)));
    handle(session, hello);
    assertThat(link.taken()).hasSize(1).first().isInstanceOf(Welcome.class);
    audited.clear();
  }

  private void revoke(String account, String subject, Instant issuedBefore) {
    bus.revocations.replace(
        (ofAccount, ofSubject, issuedAt) ->
            ofAccount.equals(account)
                && ofSubject.equals(subject)
                && issuedAt.isBefore(issuedBefore));
  }

  private void tick() {
    budget.nextWindow();
    session.onTick(NOW);
  }

  @Test
  void aClientWhoseTokenWasIssuedBeforeIsClosedWithAProblem() {
    Instant issued = clock.instant().minusSeconds(10);
    admit("acme", "u1", AuthenticationMethod.JWT, issued);
    revoke("acme", "u2", clock.instant());
    tick();
    revoke("", "u1", clock.instant());
    tick();
    revoke("acme", "u1", issued);
    tick();
    assertThat(link.closed).as("others, and what was issued earlier").isEmpty();

    revoke("acme", "u1", issued.plusMillis(1));
    tick();
    assertThat(link.taken())
        .containsExactly(
            new Problem(
                ErrorCode.UNAUTHENTICATED,
                "the credential of this client was revoked",
                false,
                0L,
                TypeCode.HELLO.code(),
                ""));
    assertThat(link.closed).hasSize(1);
    assertThat(link.closed.get(0).reason()).isEqualTo(CloseReason.UNAUTHENTICATED);
    assertThat(audited)
        .hasSize(2)
        .first()
        .isInstanceOfSatisfying(
            Advisory.ClientRevoked.class,
            told -> {
              assertThat(told.account()).isEqualTo("acme");
              assertThat(told.subject()).isEqualTo("u1");
            });
  }

  @Test
  void aPasswordCountsAsIssuedWhenItWasShown() {
    Instant login = clock.instant();
    admit("", "u1", AuthenticationMethod.PASSWORD, null);
    clock.advance(5_000);
    revoke("", "u1", login);
    tick();
    assertThat(link.closed).isEmpty();
    revoke("", "u1", login.plusMillis(1));
    tick();
    assertThat(link.closed).hasSize(1);
  }

  @Test
  void aPasswordThatIsBeingCheckedIsRevokedToo() {
    session.onMessage(ByteBuffer.wrap(hello), 0, hello.length, NOW, () -> {});
    clock.advance(500);
    revoke("", "u1", clock.instant());
    clock.advance(500);
    admit("", "u1", AuthenticationMethod.PASSWORD, null);
    tick();
    assertThat(link.closed).hasSize(1);
  }

  @Test
  void checksEarlierRevocationsForANewClient() {
    Instant now = clock.instant();
    revoke("", "u1", now);
    // Its token was checked just before that.
    admit("", "u1", AuthenticationMethod.JWT, now.minusSeconds(1));
    tick();
    assertThat(link.closed).hasSize(1);
  }

  @Test
  void aClientWithoutANameIsNotAsked() {
    admit("", "", AuthenticationMethod.SHARED_TOKEN, null);
    bus.revocations.replace(
        (account, subject, issuedAt) -> {
          throw new AssertionError("asked");
        });
    tick();
    assertThat(link.closed).isEmpty();
  }

  @Test
  void manyAreClosedInTheTimeThatUpkeepHas() {
    admit("", "u1", AuthenticationMethod.JWT, clock.instant());
    revoke("", "u1", clock.instant().plusSeconds(1));
    step = 30 * MILLI;
    budget.nextWindow();
    budget.spendOnUpkeep(budget.now());
    session.onTick(NOW);
    assertThat(link.closed).as("others have used it up").isEmpty();
    tick();
    assertThat(link.closed).hasSize(1);
  }

  @Test
  void clientsThatShowNewTokensHoldNothingUp() {
    admit("", "u1", AuthenticationMethod.JWT, clock.instant());
    revoke("", "u1", clock.instant().plusSeconds(1));
    step = 30 * MILLI;
    budget.nextWindow();
    budget.spendOnReview(budget.now());
    assertThat(budget.hasReviewLeft()).isFalse();
    session.onTick(NOW);
    assertThat(link.closed).hasSize(1);
  }
}
