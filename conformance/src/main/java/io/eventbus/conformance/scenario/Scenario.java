package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * One thing that a client library has to do, as a script.
 *
 * @param id the letter of its file, a number and a name; never given again
 * @param says what the library must do, as a sentence
 * @param covers anchors of the statements in docs/protocol.md that it checks
 * @param needs capabilities without which it is left out
 * @param auto frames that the scripted bus answers by itself
 * @param live how many real buses it wants; 0 for scripted ones
 * @param script the steps, each an object with one member, its kind
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
  /**
   * Copies the lists.
   *
   * @param id as above
   * @param says as above
   * @param covers as above
   * @param needs as above
   * @param auto as above
   * @param live as above
   * @param script as above
   * @param never as above
   * @param mutants as above
   */
  public Scenario {
    covers = List.copyOf(covers);
    needs = List.copyOf(needs);
    auto = List.copyOf(auto);
    script = List.copyOf(script);
    never = List.copyOf(never);
    mutants = List.copyOf(mutants);
  }

  /**
   * Says which tier it belongs to.
   *
   * @return 1 for vectors, 2 for the scripted bus, 3 for live buses
   */
  public int tier() {
    if (script.isEmpty()) {
      return 1;
    }
    return live == 0 ? 2 : 3;
  }
}
