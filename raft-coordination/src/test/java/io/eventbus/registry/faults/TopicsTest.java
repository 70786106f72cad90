package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TopicsTest {
  private final Topics topics = new Topics();

  @Test
  void aTopicHasABoundedNumberOfOperations() {
    Random random = new Random(1);
    Map<String, Integer> count = new HashMap<>();
    for (int i = 0; i < 3 * Topics.AT_A_TIME * Topics.OPERATIONS; i++) {
      count.merge(topics.next(random), 1, Integer::sum);
    }
    assertThat(count.values()).allMatch(n -> n <= Topics.OPERATIONS);
  }

  @Test
  void commandsWithoutAnOutcomeAreBounded() {
    for (int i = 0; i < Topics.MAX_OPEN; i++) {
      assertThat(topics.begin("t")).isTrue();
    }
    assertThat(topics.begin("t")).isFalse();
    assertThat(topics.begin("t")).isFalse();
    assertThat(topics.begin("u")).isTrue();
    topics.end("t");
    assertThat(topics.begin("t")).isTrue();
    assertThat(topics.begin("t")).isFalse();
  }
}
