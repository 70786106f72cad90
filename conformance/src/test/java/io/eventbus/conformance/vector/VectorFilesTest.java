package io.eventbus.conformance.vector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.eventbus.conformance.Repository;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.frame.RecordWriter;
import io.eventbus.protocol.TypeCode;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class VectorFilesTest {
  static Set<String> names() {
    return VectorFiles.vectors().keySet();
  }

  private static ArrayNode vectors(String file) {
    return Objects.requireNonNull(VectorFiles.vectors().get(file));
  }

  /**
   * Regenerate the files with {@code java -jar eventbus-conformance.jar --write-vectors DIRECTORY}.
   */
  @ParameterizedTest
  @MethodSource("names")
  void theFileEqualsTheGeneratedOne(String name) {
    assertThat(Repository.read("conformance/vectors/" + name))
        .isEqualTo(VectorFiles.make().get(name));
  }

  @Test
  void idsAreUnique() {
    for (String file : Set.of("frames.json", "refused.json")) {
      Set<String> ids = new TreeSet<>();
      for (JsonNode vector : vectors(file)) {
        assertThat(ids.add(vector.get("id").asText())).as(vector.get("id").asText()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TypeCode.class)
  void theExamplesAreThoseOfThePage(TypeCode type) {
    Matcher example =
        Pattern.compile("(?s)\n### %03d .*?```hex\n(.*?)```".formatted(type.code()))
            .matcher(Repository.read("docs/protocol.md"));
    assertThat(example.find()).isTrue();
    String hex = example.group(1).replaceAll("(?m);.*$", "").replaceAll("\\s", "");
    for (JsonNode vector : vectors("frames.json")) {
      if (vector.get("id").asText().equals("example-" + FrameTypes.name(type))) {
        assertThat(vector.get("hex").asText()).isEqualTo(hex);
        return;
      }
    }
    throw new AssertionError("no example of " + type);
  }

  /** Writes decoded records again, with any blocks, and compares them after another read. */
  @Test
  void recordsSurviveARoundTrip() {
    for (JsonNode vector : vectors("frames.json")) {
      for (JsonNode frame : vector.get("frames")) {
        TypeCode type = FrameTypes.of(frame.get("name").asText());
        byte[] again = RecordWriter.asBuses().frame(type, frame.get("record"));
        assertThat(KitFrame.read(again).get(0).record())
            .as(vector.get("id").asText())
            .hasToString(frame.get("record").toString());
        assertThat(HexFormat.of().formatHex(again)).isNotEmpty();
      }
    }
  }

  @Test
  void theFirstProducerEqualsThePagesExample() {
    assertThat(vectors("producers.json").get(0).toString())
        .isEqualTo(
            """
            {"resume":"q3fJ0yK8Zk1mWc7Hq2vXo5Tt9bLrNd4GsAeUiPwCxYE","producer":"7378243254498108065"}\
            """);
  }
}
