package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.samples.FakeAuthenticator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AuthenticationsTest {
  private static final int MAX_WAITING = 3;
  private static final Credentials CREDENTIALS = new Credentials("s3cret", "a", true);
  private static final long MAX_WAIT_NANOS = Authentications.MAX_WAIT.toNanos();

  /** Time close to where the clock overflows. */
  private static final long BEGAN = Long.MAX_VALUE - 7;

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");
  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final Authentications authentications = of(authenticator);
  private final AtomicInteger calls = new AtomicInteger();

  AuthenticationsTest() {
    logger.addAppender(lines);
    lines.start();
  }

  private Authentications of(Authenticator asked) {
    return new Authentications(asked, MAX_WAITING, new RateLimitedLog(logger));
  }

  private List<String> logged() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private PendingAuthentication begin() {
    return authentications.begin(CREDENTIALS, BEGAN);
  }

  @Test
  void anAnswerThatIsThereNeedsNoWaiting() {
    Authentication answer = FakeAuthenticator.everything();
    Authentications prompt = of(c -> CompletableFuture.completedFuture(answer));
    for (int i = 0; i < 2 * MAX_WAITING; i++) {
      assertThat(prompt.begin(CREDENTIALS, BEGAN).answer()).isSameAs(answer);
    }
    assertThat(prompt.waiting()).isZero();
  }

  @Test
  void anAnswerMayComeLater() {
    PendingAuthentication pending = begin();
    pending.whenAnswered(calls::incrementAndGet);
    assertThat(pending.answer()).isNull();
    assertThat(calls).hasValue(0);
    assertThat(authentications.waiting()).isEqualTo(1);
    Authentication answer = FakeAuthenticator.everything();
    authenticator.last().complete(answer);
    assertThat(calls).hasValue(1);
    assertThat(pending.answer()).isSameAs(answer);
    assertThat(authentications.waiting()).isZero();
  }

  @Test
  void aLateCallbackIsCalledAtOnce() {
    PendingAuthentication pending = begin();
    authenticator.last().complete(FakeAuthenticator.everything());
    pending.whenAnswered(calls::incrementAndGet);
    assertThat(calls).hasValue(1);
  }

  @Test
  void anAnswerThatDoesNotComeIsNone() {
    PendingAuthentication pending = begin();
    pending.whenAnswered(calls::incrementAndGet);
    pending.onTick(BEGAN + MAX_WAIT_NANOS);
    assertThat(pending.answer()).isNull();
    pending.onTick(BEGAN + MAX_WAIT_NANOS + 1);
    assertThat(calls).hasValue(1);
    assertThat(pending.answer()).isInstanceOf(Authentication.Unavailable.class);
    assertThat(authenticator.last()).as("it may see that nobody waits").isDone();
    assertThat(authentications.waiting()).isZero();
    assertThat(logged())
        .containsExactly("clients cannot be authenticated: there was no answer within 2 s");
    authenticator.last().complete(FakeAuthenticator.everything());
    assertThat(pending.answer()).isInstanceOf(Authentication.Unavailable.class);
  }

  @Test
  void aFailureLetsNobodyIn() {
    PendingAuthentication pending = begin();
    authenticator.last().completeExceptionally(new IllegalStateException("broken"));
    assertThat(pending.answer())
        .isInstanceOfSatisfying(
            Authentication.Unavailable.class,
            unavailable -> assertThat(unavailable.message()).doesNotContain("broken"));
    assertThat(logged()).hasSize(1).first().asString().contains("broken");
    Authentications throwing =
        of(
            c -> {
              throw new IllegalStateException("broken");
            });
    assertThat(throwing.begin(CREDENTIALS, BEGAN).answer())
        .isInstanceOf(Authentication.Unavailable.class);
    assertThat(throwing.waiting()).isZero();
    assertThat(authentications.waiting()).isZero();
  }

  @Test
  void waitingClientsAreBounded() {
    PendingAuthentication first = begin();
    for (int i = 1; i < MAX_WAITING; i++) {
      begin();
    }
    assertThat(begin().answer()).isInstanceOf(Authentication.Unavailable.class);
    assertThat(authenticator.asked).as("it is not asked then").hasSize(MAX_WAITING);
    assertThat(authentications.waiting()).isEqualTo(MAX_WAITING);
    first.abandon();
    assertThat(begin().answer()).isNull();
    assertThat(authenticator.asked).hasSize(MAX_WAITING + 1);
  }

  @Test
  void aCancelledCallbackIsNotCalled() {
    PendingAuthentication pending = begin();
    pending.whenAnswered(calls::incrementAndGet);
    pending.abandon();
    assertThat(authenticator.last()).isCancelled();
    assertThat(authentications.waiting()).isZero();
    authenticator.last().complete(FakeAuthenticator.everything());
    pending.abandon();
    assertThat(calls).hasValue(0);
    assertThat(authentications.waiting()).isZero();
    assertThat(logged()).isEmpty();
  }
}
