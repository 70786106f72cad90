package io.eventbus.server.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.routing.TopicCount;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentTopicsTest {
  private final List<TopicCount> counted = new ArrayList<>();
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final AtomicInteger readings = new AtomicInteger();
  private final RecentTopics topics =
      new RecentTopics(
          () -> {
            readings.incrementAndGet();
            return List.copyOf(counted).stream();
          },
          now::get);

  private void count(String topic, long events, long deliveries) {
    counted.add(new TopicCount("", topic, events, deliveries));
  }

  @Test
  void countsOfSeveralLoopsAreOneTopic() {
    count("b", 1, 10);
    count("a", 2, 20);
    count("b", 4, 40);
    assertThat(topics.after("", "", 100))
        .containsExactly(new TopicCount("", "a", 2, 20), new TopicCount("", "b", 5, 50));
  }

  @Test
  void pagesFollowEachOther() {
    for (int i = 9; i >= 0; i--) {
      count("t" + i, i, 0);
    }
    List<String> names = new ArrayList<>();
    String last = "";
    for (List<TopicCount> page = topics.after("", last, 4);
        !page.isEmpty();
        page = topics.after("", last, 4)) {
      page.forEach(t -> names.add(t.topic()));
      last = page.get(page.size() - 1).topic();
    }
    assertThat(names).containsExactly("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9");
    assertThat(topics.after("", "t35", 1)).extracting(TopicCount::topic).containsExactly("t4");
    assertThat(topics.after("", "zzz", Integer.MAX_VALUE)).isEmpty();
  }

  @Test
  void theTopicsAreReadOnceInASecond() {
    count("a", 1, 1);
    topics.after("", "", 1);
    count("b", 1, 1);
    now.addAndGet(RecentTopics.AGE_NANOS - 1);
    assertThat(topics.after("", "", 10)).hasSize(1);
    assertThat(readings).hasValue(1);
    now.addAndGet(1);
    assertThat(topics.after("", "", 10)).hasSize(2);
    assertThat(readings).hasValue(2);
  }
}
