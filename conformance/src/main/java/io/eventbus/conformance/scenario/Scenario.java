package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A requirement of client libraries, as a script.
 *
 * @param says requirement, as a sentence
 * @param live number of real buses; 0 for scripted ones
 * @param never traffic that must not have happened at the end of the script
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

  /** Returns its tier. */
  public int tier() {
    if (script.isEmpty()) {
      return 1;
    }
    return live == 0 ? 2 : 3;
  }
}
