package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Retries of a connection. */
class ReconnectBackoffTest {
  private static final int ABNORMAL = 1006;

  private final ReconnectBackoff retries = new ReconnectBackoff(policy(3), () -> 0.0);

  private static ReconnectPolicy policy(int maxAttempts) {
    return new ReconnectPolicy(Duration.ofMillis(100), Duration.ofSeconds(10), 2, 0.5, maxAttempts);
  }

  @Test
  void delaysDoubleUntilAConnectionHasHeldForFiveSeconds() {
    assertThat(retries.next()).hasMillis(100);
    assertThat(retries.next()).hasMillis(200);
    assertThat(retries.ended(0)).isFalse();
    assertThat(retries.next()).hasMillis(400);
    assertThat(retries.next()).hasMillis(800);
    assertThat(retries.ended(Duration.ofSeconds(5).toNanos() / 2)).isFalse();
    assertThat(retries.number()).as("half of the tries are forgotten").isEqualTo(2);
    assertThat(retries.ended(Duration.ofSeconds(5).toNanos())).isTrue();
    assertThat(retries.number()).isZero();
    assertThat(retries.next()).hasMillis(100);
  }

  @Test
  void thereAreAsManyTriesAsThePolicyAllows() {
    for (int i = 0; i < 3; i++) {
      assertThat(retries.mayRetry(ABNORMAL, null)).isTrue();
      retries.next();
    }
    assertThat(retries.mayRetry(ABNORMAL, null)).isFalse();
    assertThat(new ReconnectBackoff(policy(0), () -> 0.0).mayRetry(ABNORMAL, null)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"1001, true", "1006, true", "4003, true", "4500, false", "4503, false"})
  void theCodeSaysWhetherToComeBack(int code, boolean again) {
    assertThat(retries.mayRetry(code, null)).isEqualTo(again);
  }

  @Test
  void aRefusalForGoodIsTheLast() {
    assertThat(retries.mayRetry(ABNORMAL, refused(false))).isFalse();
    assertThat(retries.mayRetry(ABNORMAL, refused(true))).isTrue();
    assertThat(ReconnectBackoff.isVerdict(refused(false))).isTrue();
    assertThat(ReconnectBackoff.isVerdict(new EventBusException.NotConnected("refused", null)))
        .isFalse();
  }

  private static EventBusException refused(boolean retryable) {
    return new EventBusException.Refused(ErrorCode.UNAUTHENTICATED, "not you", retryable);
  }

  @Test
  void halfOfTheTimeThatIsLeftIsForTheTryItself() {
    assertThat(retries.next(Duration.ofSeconds(10), Duration.ZERO)).hasMillis(100);
    assertThat(retries.next(Duration.ofMillis(300), Duration.ZERO)).hasMillis(150);
    assertThat(retries.next(Duration.ofMillis(100), Duration.ZERO)).hasMillis(50);
    assertThat(retries.number()).isEqualTo(3);
  }

  @Test
  void stopsWhenTooLittleTimeIsLeft() {
    assertThat(retries.next(Duration.ofMillis(100).minusNanos(1), Duration.ZERO)).isNull();
    assertThat(retries.next(Duration.ofSeconds(-1), Duration.ZERO)).isNull();
    assertThat(retries.number()).isZero();
  }
}
