package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.scenario.ScenarioFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks of events that went through live buses, independent of timing. {@code of}: names of
 * requests to publish; {@code subscriptions}: those whose events are checked, together.
 */
final class Judge {
  /** Timeout of reports of gaps, which a client may write after the events behind them. */
  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(5);

  private final ConversationStage stage;
  private final ClientSteps client;
  private final JsonNode step;
  private final List<String> subscriptions = new ArrayList<>();

  /** Unique name of an event. */
  private record Name(String topic, String producer, long sequence) {}

  private record Stream(String topic, String producer) {}

  Judge(ConversationStage stage, ClientSteps client, JsonNode step) {
    this.stage = stage;
    this.client = client;
    this.step = step;
    step.path("subscriptions").forEach(name -> subscriptions.add(name.asText()));
  }

  void judge() throws ScenarioFailure {
    Set<Name> confirmed = confirmed();
    if (step.path("complete").asBoolean()) {
      stage.await(
          "all " + confirmed.size() + " confirmed events",
          client.within(step),
          () -> new HashSet<>(received()).containsAll(confirmed) ? true : null);
    }
    stage.lock.lock();
    try {
      List<Name> received = received();
      String found = null;
      if (step.path("once").asBoolean()) {
        found = twice(received);
      }
      if (found == null && step.path("ordered").asBoolean()) {
        found = disorder(received);
      }
      if (found != null) {
        throw new ScenarioFailure(found);
      }
      if (step.path("holes").asBoolean()) {
        awaitReports();
      }
    } finally {
      stage.lock.unlock();
    }
  }

  private void awaitReports() throws ScenarioFailure {
    try {
      stage.await(
          "a report of each gap",
          REPORT_TIMEOUT,
          () -> unreportedHole(received()) == null ? true : null);
    } catch (ScenarioFailure e) {
      String hole = unreportedHole(received());
      throw hole == null ? e : new ScenarioFailure(hole);
    }
  }

  private Set<Name> confirmed() throws ScenarioFailure {
    Set<Name> confirmed = new HashSet<>();
    for (JsonNode label : step.path("of")) {
      for (long id : client.ids(label.asText())) {
        ObjectNode answer = stage.testee.awaitAnswer(id, client.within(step));
        if (answer.has("ok")) {
          confirmed.add(name(answer.get("ok")));
        } else if (!step.path("someFail").asBoolean()) {
          throw new ScenarioFailure(answer + " (expected: confirmed)");
        }
      }
    }
    return confirmed;
  }

  private static Name name(JsonNode event) {
    return new Name(
        event.path("topic").asText(),
        event.path("producer").asText(),
        event.path("sequence").asLong());
  }

  private List<Name> received() {
    List<Name> received = new ArrayList<>();
    for (ObjectNode event : stage.testee.events()) {
      if (event.path("event").asText().equals("received")
          && subscriptions.contains(event.path("subscription").asText())) {
        received.add(name(event));
      }
    }
    return received;
  }

  private static @Nullable String twice(List<Name> received) {
    Set<Name> seen = new HashSet<>();
    for (Name event : received) {
      if (!seen.add(event)) {
        return event + " came twice";
      }
    }
    return null;
  }

  private static @Nullable String disorder(List<Name> received) {
    Map<Stream, Long> last = new HashMap<>();
    for (Name event : received) {
      Long before = last.put(new Stream(event.topic(), event.producer()), event.sequence());
      if (before != null && before >= event.sequence()) {
        return event + " came behind " + before;
      }
    }
    return null;
  }

  private @Nullable String unreportedHole(List<Name> received) {
    Map<Stream, Long> last = new HashMap<>();
    for (Name event : received) {
      Stream stream = new Stream(event.topic(), event.producer());
      Long before = last.put(stream, event.sequence());
      for (long lost = before == null ? event.sequence() : before + 1;
          lost < event.sequence();
          lost++) {
        if (!isReported(stream, lost)) {
          return stream + ": " + lost + " is missing (expected: reported as a gap)";
        }
      }
    }
    return null;
  }

  private boolean isReported(Stream stream, long sequence) {
    for (ObjectNode event : stage.testee.events()) {
      if (event.path("event").asText().equals("gap")
          && event.path("topic").asText().equals(stream.topic())
          && event.path("producer").asText().equals(stream.producer())
          && event.path("from").asLong() <= sequence
          && sequence <= event.path("to").asLong()) {
        return true;
      }
    }
    return false;
  }
}
