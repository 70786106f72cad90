package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Hello;
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
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ten thousand clients of one loop whose tokens expire together. */
@Timeout(180)
class ExpiringCrowdTest {
  private static final int CLIENTS = 10_000;
  private static final long MILLI = 1_000_000;

  private final TestClock clock = new TestClock(1_000_000);
  private final Permissions permissions =
      ((Authentication.Accepted) FakeAuthenticator.everything()).principal().permissions();
  private Instant expires = clock.instant().plusSeconds(60);
  private final Authentications authentications =
      new Authentications(
          credentials ->
              CompletableFuture.completedFuture(
                  new Authentication.Accepted(
                      new Principal(
                          "", "u1", AuthenticationMethod.JWT, permissions, null, expires))));
  // Nanoseconds of each reading of the clock.
  private long step;
  private long nanos;
  private final WorkBudget budget = new WorkBudget(() -> nanos += step);
  private final LoopContext context =
      new SessionFixture(clock, authentications).budget(budget).context();
  private final List<Session> sessions = new ArrayList<>();
  private final List<FakeLink> links = new ArrayList<>();

  private void say(Session session, byte[] frame) {
    budget.renew();
    assertThat(session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, 1, () -> {}))
        .isEqualTo(frame.length);
  }

  private long closed() {
    return links.stream().filter(link -> !link.closed.isEmpty()).count();
  }

  @Test
  void closesExpiredClientsAFewAtATimeAndKeepsRenewedOnes() {
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("c", "a/1", "t", null, Map.of(), null, null, null));
    for (int i = 0; i < CLIENTS; i++) {
      FakeLink link = new FakeLink();
      Session session = link.session(context);
      say(session, hello);
      links.add(link);
      sessions.add(session);
    }
    expires = clock.instant().plusSeconds(600);
    byte[] renewed = ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate("new", null));
    for (int i = 0; i < CLIENTS; i += 2) {
      say(sessions.get(i), renewed);
    }
    clock.advance(60_000 + 40_001);
    // Closing takes a millisecond, and there are ten windows in a second.
    step = MILLI;
    long before = 0;
    while (before < CLIENTS / 2) {
      budget.nextWindow();
      sessions.forEach(session -> session.onTick(1));
      long now = closed();
      assertThat(now - before).as("closed in a window of 100 ms").isBetween(1L, 100L);
      before = now;
    }
    for (int i = 0; i < CLIENTS; i++) {
      List<FakeLink.Closed> ends = links.get(i).closed;
      if (i % 2 == 0) {
        assertThat(ends).as("it showed a new token").isEmpty();
      } else {
        assertThat(ends).hasSize(1);
        assertThat(ends.get(0).reason()).isEqualTo(CloseReason.EXPIRED);
      }
    }
    sessions.forEach(Session::onClosed);
  }
}
