package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ForgottenTopicsTest {
  private static byte[] topic(int number) {
    return ("user." + number + ".inbox").getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aTopicGoesOnWhereItWas() {
    ForgottenTopics forgotten = new ForgottenTopics(1_000_000);
    for (int i = 0; i < 50_000; i++) {
      forgotten.put(topic(i), i + 2L);
    }
    assertThat(forgotten.size()).isEqualTo(50_000);
    for (int i = 0; i < 50_000; i++) {
      assertThat(forgotten.next(topic(i))).isEqualTo(i + 2L);
    }
    assertThat(forgotten.next(topic(50_000))).isEqualTo(1);
    forgotten.put(topic(7), 1_000);
    assertThat(forgotten.next(topic(7))).isEqualTo(1_000);
    assertThat(forgotten.size()).isEqualTo(50_000);
  }

  @Test
  void aNumberIsNeverLowerThanItWas() {
    ForgottenTopics forgotten = new ForgottenTopics(10);
    forgotten.put(topic(1), 5);
    // As if two topics had one hash.
    forgotten.put(topic(1), 3);
    assertThat(forgotten.next(topic(1))).isEqualTo(5);
  }

  @Test
  void continuesAboveAllNumbersWhenFull() {
    ForgottenTopics forgotten = new ForgottenTopics(10);
    for (int i = 1; i <= 10; i++) {
      forgotten.put(topic(i), 10L * i);
    }
    assertThat(forgotten.next(topic(3))).isEqualTo(30);
    forgotten.put(topic(11), 7);
    for (int i = 1; i <= 12; i++) {
      assertThat(forgotten.next(topic(i))).isEqualTo(100);
    }
    forgotten.put(topic(4), 101);
    assertThat(forgotten.next(topic(4))).isEqualTo(101);
    assertThat(forgotten.size()).isEqualTo(1);
    forgotten.clear();
    assertThat(forgotten.next(topic(4))).isEqualTo(1);
  }
}
