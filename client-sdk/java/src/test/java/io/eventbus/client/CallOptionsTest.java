package io.eventbus.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CallOptionsTest {
  @Test
  void namesTheValueThatIsOutOfRange() {
    RequestOptions request = RequestOptions.DEFAULT;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> request.withTimeout(Duration.ZERO))
        .withMessageContaining("timeout: PT0S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> request.withTimeout(Duration.ofMinutes(11)))
        .withMessageContaining("timeout");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> request.withMethod("m".repeat(256)))
        .withMessageContaining("method");
    ServiceOptions service = ServiceOptions.DEFAULT;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> service.withConcurrency(-1))
        .withMessageContaining("concurrency: -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> service.withMetadata(Map.of("k", "v".repeat(256))))
        .withMessageContaining("metadata value");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EventBusClient.builder().url("ws://a/b").callBufferBytes(1).options())
        .withMessageContaining("callBufferBytes: 1");
  }

  @Test
  void onlyIdempotentRequestsAreRepeatedByDefault() {
    assertThat(RequestOptions.DEFAULT.retryPolicy()).isEqualTo(RetryPolicy.NONE);
    assertThat(RequestOptions.DEFAULT.withIdempotent(true).retryPolicy())
        .isEqualTo(RetryPolicy.STANDARD);
    assertThat(
            RequestOptions.DEFAULT.withIdempotent(true).withRetry(RetryPolicy.NONE).retryPolicy())
        .isEqualTo(RetryPolicy.NONE);
  }

  @Test
  void pausesGrowAndHaveALimit() {
    RetryPolicy policy = new RetryPolicy(10, Duration.ofMillis(50), Duration.ofMillis(300), 2, 0.5);
    assertThat(policy.delay(1, 0)).isEqualTo(Duration.ofMillis(50));
    assertThat(policy.delay(2, 0)).isEqualTo(Duration.ofMillis(100));
    assertThat(policy.delay(2, 0.5)).isEqualTo(Duration.ofMillis(75));
    assertThat(policy.delay(9, 0)).isEqualTo(Duration.ofMillis(300));
  }
}
