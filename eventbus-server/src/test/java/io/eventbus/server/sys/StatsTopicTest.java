package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.admin.FakeBus;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatsTopicTest {
  private final FakeBus bus = new FakeBus(3);
  private final List<String> topics = new ArrayList<>();
  private final List<JsonNode> published = new ArrayList<>();
  private boolean wanted = true;
  private final StatsTopic stats =
      new StatsTopic(
          "bus-1",
          bus,
          topic -> wanted && topic.equals("$SYS.bus.bus-1.stats"),
          this::publish,
          Clock.fixed(FakeBus.STARTED.plus(Duration.ofMillis(90_500)), ZoneOffset.UTC));

  private void publish(String topic, byte[] payload) {
    topics.add(topic);
    try {
      published.add(new ObjectMapper().readTree(payload));
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theFiguresAreThoseOfTheMetrics() {
    stats.run();
    assertThat(topics).containsExactly("$SYS.bus.bus-1.stats");
    JsonNode json = published.get(0);
    assertThat(json.get("bus").textValue()).isEqualTo("bus-1");
    assertThat(json.get("version").textValue()).isEqualTo("1.2.3");
    assertThat(json.get("at").textValue()).isEqualTo("2026-01-02T03:05:35.500Z");
    assertThat(json.get("uptimeSeconds").doubleValue()).isEqualTo(90.5);
    assertThat(json.get("state").textValue()).isEqualTo("UP");
    assertThat(json.at("/stats/connections/open").intValue()).isEqualTo(3);
    assertThat(json.at("/stats/traffic/eventsReceived").intValue()).isEqualTo(30);
    assertThat(json.at("/stats/droppedByReason/DROP_OLDEST").intValue()).isEqualTo(5);
    assertThat(json.at("/stats/latency/buckets/2/upperBoundSeconds").textValue())
        .isEqualTo("Infinity");
    assertThat(json.at("/stats/federation/eventsSent").intValue()).isEqualTo(34);
  }

  @Test
  void noFiguresAreCollectedWithoutSubscribers() {
    wanted = false;
    stats.run();
    assertThat(topics).isEmpty();
    wanted = true;
    stats.run();
    assertThat(topics).hasSize(1);
  }

  @Test
  void aFailureIsNotTheLast() {
    bus.broken(true);
    stats.run();
    assertThat(topics).isEmpty();
    bus.broken(false);
    stats.run();
    assertThat(topics).hasSize(1);
  }

  @Test
  void aNameIsOneTokenOfTheTopic() {
    for (String name : List.of("a", "a.b", "a..b", "a.", "a-_1", "x" + ".".repeat(63))) {
      String topic = SysTopics.topic(name, "stats");
      assertThat(Topic.formProblem(topic)).isNull();
      assertThat(TopicFilter.parse("$SYS.bus.*.stats").matches(topic)).as(topic).isTrue();
    }
    assertThat(SysTopics.topic("a.b", "stats")).isEqualTo("$SYS.bus.a%2Eb.stats");
  }
}
