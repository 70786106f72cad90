package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.server.advisory.Advisory;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventsTopicTest {
  private final List<JsonNode> published = new ArrayList<>();
  private boolean wanted = true;
  private long nanos = Long.MAX_VALUE - 5;
  private final EventsTopic events =
      new EventsTopic(
          "bus-1",
          topic -> wanted && topic.equals("$SYS.bus.bus-1.events"),
          this::publish,
          Clock.fixed(Instant.parse("2026-03-04T05:06:07Z"), ZoneOffset.UTC),
          () -> nanos);

  private void publish(String topic, byte[] payload) {
    assertThat(topic).isEqualTo("$SYS.bus.bus-1.events");
    try {
      published.add(new ObjectMapper().readTree(payload));
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  private void tell(int count) {
    for (int i = 0; i < count; i++) {
      events.accept(new Advisory.ChangeFinished(i, "b", Advisory.ChangeOutcome.MOVED));
    }
  }

  @Test
  void anEventSaysWhatHappenedWhereAndWhen() {
    tell(1);
    assertThat(published.get(0).toString())
        .isEqualTo(
            "{\"bus\":\"bus-1\",\"at\":\"2026-03-04T05:06:07Z\",\"type\":\"change_finished\","
                + "\"omitted\":0,\"detail\":{\"connection\":0,\"to\":\"b\",\"outcome\":\"MOVED\"}}");
  }

  @Test
  void theRateIsBoundedAndTheNextEventCountsWhatWasLeftOut() {
    tell(EventsTopic.MAX_PER_SECOND + 20);
    assertThat(published).hasSize(EventsTopic.MAX_PER_SECOND);
    nanos += TimeUnit.SECONDS.toNanos(1) - 1;
    tell(3);
    assertThat(published).hasSize(EventsTopic.MAX_PER_SECOND);
    nanos++;
    tell(2);
    assertThat(published)
        .extracting(json -> json.get("omitted").intValue())
        .endsWith(0, 23, 0)
        .hasSize(EventsTopic.MAX_PER_SECOND + 2);
  }

  @Test
  void whatClientsCauseLeavesHalfOfTheRateToOthers() {
    for (int i = 0; i < EventsTopic.MAX_PER_SECOND; i++) {
      events.accept(new Advisory.ConsumerChanged("", "orders", "billing", i, i));
    }
    assertThat(published).hasSize(EventsTopic.MAX_PER_SECOND / 2);
    tell(EventsTopic.MAX_PER_SECOND);
    assertThat(published).hasSize(EventsTopic.MAX_PER_SECOND);
  }

  @Test
  void whileNothingSubscribesNothingIsCounted() {
    wanted = false;
    tell(1_000);
    assertThat(published).isEmpty();
    wanted = true;
    tell(1);
    assertThat(published).hasSize(1);
    assertThat(published.get(0).get("omitted").intValue()).isZero();
  }
}
