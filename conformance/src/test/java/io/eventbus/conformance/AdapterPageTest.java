package io.eventbus.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.conformance.run.VectorRounds;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFiles;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares adapter.md, for authors of adapters, with the kit. */
class AdapterPageTest {
  private static Set<String> names(String table) {
    Matcher part =
        Pattern.compile("(?s)<!-- begin: " + table + " -->(.*?)<!-- end: " + table + " -->")
            .matcher(Repository.read("conformance/adapter.md"));
    assertThat(part.find()).as(table).isTrue();
    Set<String> names = new TreeSet<>();
    // The first cell of each row, some with several names.
    Matcher row = Pattern.compile("(?m)^\\| ([^|]*)\\|").matcher(part.group(1));
    while (row.find()) {
      Matcher name = Pattern.compile("`([\\w-]+)`").matcher(row.group(1));
      while (name.find()) {
        names.add(name.group(1));
      }
    }
    return names;
  }

  @Test
  void scenariosNeedOnlyDocumentedCapabilities() {
    Set<String> needed = new TreeSet<>();
    Stream.concat(VectorRounds.all().stream(), ScenarioFiles.all().stream())
        .map(Scenario::needs)
        .forEach(needed::addAll);

    assertThat(names("capabilities")).containsAll(needed);
  }

  @Test
  void scenariosUseOnlyDocumentedOpsAndEvents() {
    Set<String> ops = new TreeSet<>();
    Set<String> events = new TreeSet<>();
    for (Scenario scenario : ScenarioFiles.all()) {
      scenario
          .script()
          .forEach(
              step -> {
                step.findValues("op").forEach(op -> ops.add(op.asText()));
                // Not those of frames of calls, which have a member of this name, too.
                step.findValues("event").stream()
                    .filter(JsonNode::isTextual)
                    .forEach(event -> events.add(event.asText()));
              });
    }

    assertThat(names("ops")).containsAll(ops);
    assertThat(names("events")).containsAll(events);
  }

  @Test
  void idsNeverChangeTheirLetter() {
    assertThat(ScenarioFiles.all())
        .allSatisfy(
            scenario -> assertThat(scenario.id().startsWith("X")).isEqualTo(scenario.tier() == 3));
  }
}
