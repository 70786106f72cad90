package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EventFormatTest {
  private static final byte[] NO_TEXT = {(byte) 0xff, 0, 1};

  @Test
  void rawIsThePayload() {
    assertThat(EventFormat.RAW.line(FakeEvent.of("a.b", null, Map.of(), NO_TEXT), true))
        .isEqualTo(new byte[] {(byte) 0xff, 0, 1, '\n'});
  }

  @Test
  void jsonHasEverything() throws Exception {
    String payload = "quote \" line\nend \u00e9";
    byte[] line =
        EventFormat.JSONL.line(FakeEvent.of("a.b", "k\n", Map.of("h", "v"), payload), true);
    assertThat(new String(line, StandardCharsets.UTF_8).lines()).hasSize(1);
    JsonNode json = new ObjectMapper().readTree(line);
    assertThat(json.path("topic").asText()).isEqualTo("a.b");
    assertThat(json.path("key").asText()).isEqualTo("k\n");
    assertThat(json.path("headers").path("h").asText()).isEqualTo("v");
    assertThat(json.path("payload").asText()).isEqualTo(payload);
    assertThat(json.path("producer").isTextual()).isTrue();
    assertThat(json.path("producer").asText()).isEqualTo("7");
    assertThat(json.path("sequence").asLong()).isEqualTo(8);
    assertThat(json.path("publishedAt").asText()).isEqualTo("1970-01-01T00:00:01.000001Z");
    assertThat(json.path("receivedAt").asText()).isEqualTo("1970-01-01T00:00:02.000002Z");
  }

  @Test
  void jsonOfBytesIsBase64() throws Exception {
    JsonNode json =
        new ObjectMapper()
            .readTree(EventFormat.JSONL.line(FakeEvent.of("a", null, Map.of(), NO_TEXT), false));
    assertThat(json.path("payloadBase64").binaryValue()).isEqualTo(NO_TEXT);
    assertThat(json.has("payload")).isFalse();
    assertThat(json.has("key")).isFalse();
  }

  @Test
  void prettyObeysNoControlCharacters() {
    FakeEvent hostile =
        FakeEvent.of("a\033b", "\007", Map.of("h\r", "\u202e"), "\033]0;title\007\n\u009b31m");
    String line = new String(EventFormat.PRETTY.line(hostile, false), StandardCharsets.UTF_8);
    assertThat(line.substring(0, line.length() - 1))
        .contains("a\\u001bb  key=\\u0007  h\\u000d=\\u202e  \\u001b]0;title\\u0007\\u000a")
        .matches("[ -~]*");
    assertThat(line).endsWith("\n");
  }

  @Test
  void prettyOfBytesIsHexAndBounded() {
    assertThat(pretty(NO_TEXT)).endsWith("  0xff0001\n");
    byte[] big = new byte[1000];
    big[0] = (byte) 0xff;
    assertThat(pretty(big)).endsWith("… (1000 bytes)\n").hasSizeLessThan(250);
  }

  private static String pretty(byte[] payload) {
    FakeEvent event = FakeEvent.of("a", null, Map.of(), payload);
    return new String(EventFormat.PRETTY.line(event, false), StandardCharsets.UTF_8);
  }
}
