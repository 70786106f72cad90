package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.conformance.scenario.ScenarioFailure;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Player of the steps of a script, one after the other. */
final class ConversationScript implements AutoCloseable {
  private final ConversationStage stage;
  private final ClientSteps client;
  private final BusSteps bus;
  private final LiveBuses buses;
  private @Nullable LiveSteps live;

  ConversationScript(ConversationStage stage, LiveBuses buses) {
    this.stage = stage;
    this.buses = buses;
    this.client = new ClientSteps(stage);
    this.bus = new BusSteps(stage, client);
  }

  void goLive(int count) {
    live = new LiveSteps(stage, client, buses.of(count));
  }

  void play(List<JsonNode> steps) throws ScenarioFailure {
    int number = 0;
    for (JsonNode step : steps) {
      number++;
      Map.Entry<String, JsonNode> part = step.properties().iterator().next();
      try {
        play(part.getKey(), part.getValue());
      } catch (ScenarioFailure e) {
        throw new ScenarioFailure(
            "step "
                + number
                + ", "
                + part.getKey()
                + " "
                + shortened(part.getValue())
                + ": "
                + e.getMessage());
      }
    }
  }

  private static String shortened(JsonNode step) {
    String text = step.toString();
    return text.length() <= 160 ? text : text.substring(0, 160) + "…";
  }

  private void play(String kind, JsonNode step) throws ScenarioFailure {
    switch (kind) {
      case "client" -> client.client(step);
      case "result" -> client.result(step);
      case "told" -> client.expectEvent(step);
      case "state", "counters" -> client.poll(kind, step);
      case "expect" -> bus.expect(step);
      case "bus" -> bus.bus(step);
      case "auto" -> {
        Set<String> frames = new HashSet<>();
        step.forEach(frame -> frames.add(frame.asText()));
        stage.auto(frames);
      }
      default -> {
        LiveSteps steps = live;
        if (steps == null || !steps.play(kind, step)) {
          throw new ScenarioFailure("no such kind of step");
        }
      }
    }
  }

  @Override
  public void close() {
    LiveSteps steps = live;
    if (steps != null) {
      steps.close();
    }
  }
}
