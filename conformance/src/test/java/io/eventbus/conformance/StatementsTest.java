package io.eventbus.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Maps the requirements of the protocol's page to the scenarios that check them. */
class StatementsTest {
  private static final Pattern ANCHOR =
      Pattern.compile("<a id=\"must-(client|both|application|bus)-([a-z]+-\\d+)\"></a>");
  private static final Pattern MUST = Pattern.compile("(?i)\\bmust\\b");

  /** Sentences about the word "must" itself. */
  private static final List<String> ABOUT_THE_WORD = List.of("The words **must**, **must not**");

  private static List<String> prose() {
    String page = Repository.read("docs/protocol.md").replaceAll("(?ms)^```.*?^```$", "");
    return page.lines().toList();
  }

  /** Returns the bound side by the name of the anchor. */
  private static Map<String, String> anchors() {
    Map<String, String> anchors = new LinkedHashMap<>();
    for (String line : prose()) {
      Matcher anchor = ANCHOR.matcher(line);
      while (anchor.find()) {
        assertThat(anchors.put(anchor.group(2), anchor.group(1))).as(anchor.group(2)).isNull();
      }
    }
    return anchors;
  }

  private static Map<String, String> checkedElsewhere() throws IOException {
    JsonNode list =
        new ObjectMapper(new YAMLFactory())
            .readTree(Repository.read("conformance/statements.yaml"));
    Map<String, String> by = new LinkedHashMap<>();
    list.forEach(one -> by.put(one.get("id").asText(), one.get("by").asText()));
    return by;
  }

  private static Map<String, String> scenarios() {
    Map<String, TreeSet<String>> by = new LinkedHashMap<>();
    for (Scenario scenario : ScenarioFiles.all()) {
      for (String statement : scenario.covers()) {
        by.computeIfAbsent(statement, key -> new TreeSet<>()).add(scenario.id().substring(0, 3));
      }
    }
    return by.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, e -> String.join(", ", e.getValue())));
  }

  @Test
  void everyMustHasAnAnchor() {
    assertThat(prose())
        .filteredOn(line -> MUST.matcher(line.replaceAll("<a id=\"[^\"]*\">", "")).find())
        .filteredOn(line -> ABOUT_THE_WORD.stream().noneMatch(line::startsWith))
        .allSatisfy(line -> assertThat(line).containsPattern(ANCHOR));
  }

  @Test
  void everyStatementIsChecked() throws IOException {
    Map<String, String> covered = scenarios();
    covered.putAll(checkedElsewhere());

    assertThat(covered.keySet()).containsExactlyInAnyOrderElementsOf(anchors().keySet());
  }

  /** Writes the table to target/statements.md, to be copied from there. */
  @Test
  void theTableOfTheReadmeMatches() throws IOException {
    Map<String, String> elsewhere = checkedElsewhere();
    Map<String, String> covered = scenarios();
    StringBuilder table = new StringBuilder("| statement | binds | checked by |\n|---|---|---|\n");
    anchors()
        .forEach(
            (name, who) ->
                table.append(
                    "| [%s](../docs/protocol.md#must-%s-%s) | %s | %s |\n"
                        .formatted(
                            name,
                            who,
                            name,
                            who.equals("both") ? "client and bus" : who,
                            covered.getOrDefault(name, elsewhere.getOrDefault(name, "")))));
    Files.writeString(
        Files.createDirectories(Path.of("target")).resolve("statements.md"), table.toString());

    assertThat(Repository.read("conformance/README.md"))
        .contains("<!-- begin: statements -->\n" + table + "<!-- end: statements -->\n");
  }
}
