package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A fault of a library, injected between the library and the judge: a frame or a line that is
 * changed, duplicated, reordered or dropped. The build plays every scenario with each of its
 * mutants and expects it to fail.
 */
public record Mutant(JsonNode definition) {
  private static final Set<String> MEMBERS =
      Set.of("of", "where", "nth", "set", "drop", "twice", "swap", "before");

  /**
   * Checks the definition.
   *
   * @throws IllegalArgumentException if it has an unknown member
   */
  public Mutant {
    definition
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!MEMBERS.contains(name)) {
                throw new IllegalArgumentException(
                    "mutant: " + name + " (expected: one of " + MEMBERS + ")");
              }
            });
    if (!definition.has("of")) {
      throw new IllegalArgumentException("mutant: " + definition + " (expected: with 'of')");
    }
  }

  /** A mutant in one run; the caller synchronizes. */
  public static final class Active {
    private final JsonNode definition;
    private final Matcher matcher = new Matcher();
    private final List<ObjectNode> held = new ArrayList<>();
    private int seen;
    private int changed;

    /** Begins a run. */
    public Active(Mutant mutant) {
      this.definition = mutant.definition;
    }

    /**
     * Returns the number of changes.
     *
     * @return 0 if it changed nothing
     */
    public int changed() {
      return changed;
    }

    /** Applies the fault to a frame or line. */
    public List<ObjectNode> apply(String kind, ObjectNode what) {
      if (!definition.path("of").asText().equals(kind)) {
        return List.of(what);
      }
      if (!held.isEmpty()) {
        List<ObjectNode> both = new ArrayList<>();
        both.add(what);
        both.addAll(held);
        held.clear();
        return both;
      }
      if (definition.has("where") && matcher.mismatch(definition.get("where"), what) != null) {
        return List.of(what);
      }
      seen++;
      if (definition.has("nth") && definition.get("nth").intValue() != seen) {
        return List.of(what);
      }
      changed++;
      if (definition.path("drop").asBoolean()) {
        return List.of();
      } else if (definition.path("twice").asBoolean()) {
        return List.of(what, what.deepCopy());
      } else if (definition.path("swap").asBoolean()) {
        held.add(what);
        return List.of();
      }
      ObjectNode other = what.deepCopy();
      merge(other, definition.path("set"));
      return definition.has("before") ? List.of(other, what) : List.of(other);
    }

    private static void merge(ObjectNode into, JsonNode changes) {
      for (Map.Entry<String, JsonNode> change : changes.properties()) {
        if (change.getValue().isObject() && into.path(change.getKey()) instanceof ObjectNode part) {
          merge(part, change.getValue());
        } else {
          into.set(change.getKey(), change.getValue());
        }
      }
    }
  }
}
