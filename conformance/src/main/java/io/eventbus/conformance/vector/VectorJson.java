package io.eventbus.conformance.vector;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** JSON of the files: a vector per line, and only ASCII, so that control characters are visible. */
final class VectorJson {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private VectorJson() {}

  static ArrayNode array() {
    return JsonNodeFactory.instance.arrayNode();
  }

  static JsonNode parse(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
  }

  static String text(ArrayNode vectors) {
    return StreamSupport.stream(vectors.spliterator(), false)
        .map(VectorJson::line)
        .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private static String line(JsonNode vector) {
    try {
      return MAPPER.writeValueAsString(vector);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a vector that cannot be written", e);
    }
  }
}
