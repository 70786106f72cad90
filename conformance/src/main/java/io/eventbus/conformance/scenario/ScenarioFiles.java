package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Files of scenarios, one for each letter. */
public final class ScenarioFiles {
  private static final List<String> NAMES =
      List.of(
          "connect",
          "publish",
          "reconnect",
          "authentication",
          "subscribe",
          "dispatch",
          "flow",
          "move",
          "liveness",
          "evolution",
          "calls",
          "members",
          "durable",
          "tunnels",
          "interruption",
          "resilience",
          "live");
  private static final Set<String> MEMBERS =
      Set.of("id", "says", "covers", "needs", "auto", "live", "script", "never", "mutants");
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private ScenarioFiles() {}

  /**
   * Reads all scenarios.
   *
   * @throws IllegalArgumentException if a scenario is malformed, with its id
   */
  public static List<Scenario> all() {
    List<Scenario> all = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (String name : NAMES) {
      for (Scenario scenario : read("/scenarios/" + name + ".yaml")) {
        if (!ids.add(scenario.id())) {
          throw new IllegalArgumentException(scenario.id() + ": is there twice");
        }
        all.add(scenario);
      }
    }
    return all;
  }

  private static List<Scenario> read(String resource) {
    try (InputStream in = ScenarioFiles.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException(resource + ": is not in the jar");
      }
      List<Scenario> scenarios = new ArrayList<>();
      for (JsonNode node : YAML.readTree(in)) {
        scenarios.add(scenario(resource, node));
      }
      return scenarios;
    } catch (IOException e) {
      throw new UncheckedIOException(resource + ": " + e.getMessage(), e);
    }
  }

  private static Scenario scenario(String resource, JsonNode node) {
    String id = node.path("id").asText();
    try {
      node.fieldNames()
          .forEachRemaining(
              name -> {
                if (!MEMBERS.contains(name)) {
                  throw new IllegalArgumentException(
                      name + ": no such member (expected: one of " + MEMBERS + ")");
                }
              });
      if (!id.matches("[A-Z]\\d\\d\\.[a-z0-9-]+") || node.path("says").asText().isEmpty()) {
        throw new IllegalArgumentException("id and says (expected: 'X01.name' and a sentence)");
      }
      List<JsonNode> script = items(node.path("script"));
      for (JsonNode step : script) {
        if (!step.isObject() || step.size() != 1) {
          throw new IllegalArgumentException(step + " (expected: one kind of step)");
        }
      }
      return new Scenario(
          id,
          node.path("says").asText(),
          texts(node.path("covers")),
          texts(node.path("needs")),
          texts(node.path("auto")),
          node.path("live").asInt(0),
          script,
          items(node.path("never")),
          items(node.path("mutants")).stream().map(Mutant::new).toList());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(resource + ", " + id + ": " + e.getMessage(), e);
    }
  }

  private static List<JsonNode> items(JsonNode list) {
    return Stream.iterate(0, i -> i < list.size(), i -> i + 1).map(list::get).toList();
  }

  private static List<String> texts(JsonNode list) {
    return items(list).stream().map(JsonNode::asText).toList();
  }
}
