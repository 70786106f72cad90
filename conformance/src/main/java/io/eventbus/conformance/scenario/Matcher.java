package io.eventbus.conformance.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Compares values with the expectations of a script, and has the script's variables; for one
 * thread.
 *
 * <p>An object compares its own members and ignores others. Numbers are compared as numbers, also
 * where they are written as text. {@code "*"} is anything but null, {@code "1..3"} a range, {@code
 * "/…/"} a regular expression, {@code $name} a variable that is set where it has no value yet,
 * {@code {in: […]}} one of several, {@code {not: …}} another one. The member {@code text} is
 * compared with the member {@code payload} as UTF-8.
 */
public final class Matcher {
  private static final Pattern RANGE = Pattern.compile("(-?\\d+)\\.\\.(-?\\d+)");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{(\\w+)}");

  private final Map<String, JsonNode> variables = new HashMap<>();

  /** Begins without variables. */
  public Matcher() {}

  /** Sets a variable. */
  public void set(String name, String value) {
    variables.put(name, TextNode.valueOf(value));
  }

  /**
   * Returns a template with the values of variables.
   *
   * @throws IllegalArgumentException if a variable has no value
   */
  public JsonNode fill(JsonNode template) {
    if (template.isTextual()) {
      String text = template.asText();
      if (text.matches("\\$\\w+")) {
        return value(text.substring(1));
      }
      return TextNode.valueOf(
          VARIABLE
              .matcher(text)
              .replaceAll(
                  found ->
                      java.util.regex.Matcher.quoteReplacement(value(found.group(1)).asText())));
    } else if (template.isArray()) {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      template.forEach(item -> array.add(fill(item)));
      return array;
    } else if (template.isObject()) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      template.properties().forEach(e -> object.set(e.getKey(), fill(e.getValue())));
      return object;
    }
    return template;
  }

  private JsonNode value(String name) {
    JsonNode value = variables.get(name);
    if (value == null) {
      throw new IllegalArgumentException("${" + name + "}: no such variable");
    }
    return value;
  }

  /**
   * Compares a value with an expectation.
   *
   * @param seen received value; null for none
   * @return null if it matches, else place and kind of the difference
   */
  public @Nullable String mismatch(JsonNode wanted, @Nullable JsonNode seen) {
    return mismatch("", wanted, seen);
  }

  private @Nullable String mismatch(String at, JsonNode wanted, @Nullable JsonNode seen) {
    if (wanted.isNull()) {
      return seen == null || seen.isNull() ? null : differs(at, "nothing", seen);
    }
    if (seen == null || seen.isNull()) {
      return differs(at, wanted.toString(), seen);
    }
    if (wanted.isObject()) {
      return object(at, wanted, seen);
    } else if (wanted.isArray()) {
      return array(at, wanted, seen);
    }
    return scalar(wanted, seen) ? null : differs(at, wanted.toString(), seen);
  }

  private static String differs(String at, String wanted, @Nullable JsonNode seen) {
    String text = seen == null || seen.isNull() ? "nothing" : seen.toString();
    String shown = text.length() > 200 ? text.substring(0, 200) + "…" : text;
    return (at.isEmpty() ? "" : at.substring(1) + ": ") + shown + " (expected: " + wanted + ")";
  }

  private @Nullable String object(String at, JsonNode wanted, JsonNode seen) {
    if (wanted.has("in")) {
      for (JsonNode one : wanted.get("in")) {
        if (mismatch(at, one, seen) == null) {
          return null;
        }
      }
      return differs(at, "one of " + wanted.get("in"), seen);
    } else if (wanted.has("not")) {
      return mismatch(at, wanted.get("not"), seen) == null
          ? differs(at, "not " + wanted.get("not"), seen)
          : null;
    }
    for (Map.Entry<String, JsonNode> member : wanted.properties()) {
      String name = member.getKey();
      JsonNode part =
          name.equals("text") && seen.has("payload") ? text(seen.get("payload")) : seen.get(name);
      String found = mismatch(at + "." + name, member.getValue(), part);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private static JsonNode text(JsonNode payload) {
    return TextNode.valueOf(
        new String(Base64.getDecoder().decode(payload.asText()), StandardCharsets.UTF_8));
  }

  private @Nullable String array(String at, JsonNode wanted, JsonNode seen) {
    if (!seen.isArray() || seen.size() != wanted.size()) {
      return differs(at, wanted.toString(), seen);
    }
    for (int i = 0; i < wanted.size(); i++) {
      String found = mismatch(at + "[" + i + "]", wanted.get(i), seen.get(i));
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private boolean scalar(JsonNode wanted, JsonNode seen) {
    String text = wanted.asText();
    if (wanted.isTextual()) {
      if (text.equals("*")) {
        return true;
      } else if (text.matches("\\$\\w+")) {
        JsonNode set = variables.putIfAbsent(text.substring(1), seen);
        return set == null || same(set, seen);
      } else if (text.length() > 1 && text.startsWith("/") && text.endsWith("/")) {
        return Pattern.compile(text.substring(1, text.length() - 1)).matcher(seen.asText()).find();
      }
      java.util.regex.Matcher range = RANGE.matcher(text);
      if (range.matches() && isNumber(seen)) {
        BigDecimal number = new BigDecimal(seen.asText());
        return number.compareTo(new BigDecimal(range.group(1))) >= 0
            && number.compareTo(new BigDecimal(range.group(2))) <= 0;
      }
      JsonNode filled = fill(wanted);
      return same(filled, seen);
    }
    return same(wanted, seen);
  }

  private static boolean same(JsonNode wanted, JsonNode seen) {
    if (isNumber(wanted) && isNumber(seen)) {
      return new BigDecimal(wanted.asText()).compareTo(new BigDecimal(seen.asText())) == 0;
    }
    return wanted.asText().equals(seen.asText()) && seen.isValueNode();
  }

  private static boolean isNumber(JsonNode node) {
    return node.isNumber()
        || (node.isTextual()
            && node.asText().length() < 100
            && node.asText().matches("-?\\d+(\\.\\d+)?"));
  }
}
