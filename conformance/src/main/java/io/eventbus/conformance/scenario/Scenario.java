package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * One thing that a client library has to do, as a script.
 *
 * @param says what the library must do, as a sentence
 * @param live how many real buses it wants; 0 for scripted ones
 * @param never what must not have come when the script is over
 * @param mutants faults that the script must notice
 */
public record Scenario(
    String id,
    String says,
    List<String> covers,
    List<String> needs,
    List<String> auto,
    int live,
    List<JsonNode> script,
    List<JsonNode> never,
    List<Mutant> mutants) {
  /** Copies the lists. */
  public Scenario {
    covers = List.copyOf(covers);
    needs = List.copyOf(needs);
    auto = List.copyOf(auto);
    script = List.copyOf(script);
    never = List.copyOf(never);
    mutants = List.copyOf(mutants);
  }

  /** Says which tier it belongs to. */
  public int tier() {
    if (script.isEmpty()) {
      return 1;
    }
    return live == 0 ? 2 : 3;
  }
}
