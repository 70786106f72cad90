package io.eventbus.server.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.eventbus.base.PrintableText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** JSON for operators: times in ISO 8601, infinity as a string. */
public final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .addModule(new SimpleModule().addSerializer(Instant.class, ToStringSerializer.instance))
          .build();

  private Json() {}

  /**
   * Writes a value whose texts may be of any length. Any thread.
   *
   * @throws IOException if the value is of a type that cannot be written
   */
  public static byte[] write(Object value, int maxText) throws IOException {
    byte[] whole = write(value);
    if (whole.length <= maxText) {
      return whole;
    }
    JsonNode tree = MAPPER.readTree(whole);
    cut(tree, maxText);
    return bytes(tree);
  }

  private static void cut(JsonNode node, int maxText) {
    node.properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              if (value.isTextual() && value.textValue().length() > maxText) {
                field.setValue(TextNode.valueOf(value.textValue().substring(0, maxText)));
              } else {
                cut(value, maxText);
              }
            });
  }

  /**
   * Writes a value. Any thread.
   *
   * @throws IOException if the value is of a type that cannot be written
   */
  public static byte[] write(Object value) throws IOException {
    return bytes(value);
  }

  private static byte[] bytes(Object value) throws IOException {
    return escaped(MAPPER.writeValueAsString(value)).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Escapes invisible characters, which occur only in texts: some readers end a line at them, and
   * terminals turn texts around.
   */
  private static String escaped(String json) {
    if (json.codePoints().allMatch(PrintableText::isSeen)) {
      return json;
    }
    StringBuilder escaped = new StringBuilder(json.length() + 64);
    json.codePoints()
        .forEach(
            c -> {
              if (PrintableText.isSeen(c)) {
                escaped.appendCodePoint(c);
              } else {
                for (char half : Character.toChars(c)) {
                  escaped.append(String.format("\\u%04x", (int) half));
                }
              }
            });
    return escaped.toString();
  }
}
