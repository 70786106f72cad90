package io.eventbus.cli.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.Text;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Format of a received event. */
enum EventFormat {
  /** Line for people. */
  PRETTY,
  /** JSON object on a line. */
  JSONL,
  /** Payload as it is, and a line feed. */
  RAW;

  private static final int MAX_HEX_BYTES = 64;
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Returns the event with a line feed at its end. */
  byte[] line(ReceivedEvent event, boolean colour) {
    byte[] text =
        switch (this) {
          case PRETTY -> prettyLine(event, colour);
          case JSONL -> jsonLine(event);
          case RAW -> event.payload();
        };
    return withLineFeed(text);
  }

  private static byte[] withLineFeed(byte[] text) {
    byte[] line = Arrays.copyOf(text, text.length + 1);
    line[text.length] = '\n';
    return line;
  }

  /** Returns the name as the user types it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static byte[] prettyLine(ReceivedEvent event, boolean colour) {
    StringBuilder line = new StringBuilder();
    String time = TIME.format(event.receivedAt().atZone(ZoneId.systemDefault()));
    line.append(colour ? "\033[2m" + time + "\033[0m" : time).append("  ");
    String topic = Text.printable(event.topic());
    line.append(colour ? "\033[36m" + topic + "\033[0m" : topic);
    String key = event.key();
    if (key != null) {
      line.append("  key=").append(Text.printable(key));
    }
    new TreeMap<>(event.headers())
        .forEach(
            (name, value) ->
                line.append("  ")
                    .append(Text.printable(name))
                    .append('=')
                    .append(Text.printable(value)));
    String text = Text.utf8(event.payloadBuffer());
    return line.append("  ")
        .append(text == null ? hex(event.payload()) : Text.printable(text))
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String hex(byte[] payload) {
    HexFormat hex = HexFormat.of();
    return payload.length <= MAX_HEX_BYTES
        ? "0x" + hex.formatHex(payload)
        : "0x" + hex.formatHex(payload, 0, MAX_HEX_BYTES) + "… (" + payload.length + " bytes)";
  }

  private static byte[] jsonLine(ReceivedEvent event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("topic", event.topic());
    // As text: above 2^53 many readers of JSON would round it, and it may be compared but not
    // counted.
    fields.put("producer", Long.toString(event.producer()));
    fields.put("sequence", event.sequence());
    if (event.position() != 0) {
      fields.put("position", event.position());
    }
    fields.put("publishedAt", event.publishedAt().toString());
    fields.put("receivedAt", event.receivedAt().toString());
    String key = event.key();
    if (key != null) {
      fields.put("key", key);
    }
    if (!event.headers().isEmpty()) {
      fields.put("headers", new TreeMap<>(event.headers()));
    }
    if (event.schema() != 0) {
      fields.put("schema", "%016x".formatted(event.schema()));
    }
    String text = Text.utf8(event.payloadBuffer());
    if (text != null) {
      fields.put("payload", text);
    } else {
      fields.put("payloadBase64", Base64.getEncoder().encodeToString(event.payload()));
    }
    return json(fields);
  }

  /** Returns a confirmation as a JSON object with a line feed at its end. */
  static byte[] jsonLine(Published confirmed) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("topic", confirmed.topic());
    fields.put("producer", Long.toString(confirmed.producer()));
    fields.put("sequence", confirmed.sequence());
    if (confirmed.receivers() >= 0) {
      fields.put("receivers", confirmed.receivers());
    }
    if (confirmed.position() != 0) {
      fields.put("position", confirmed.position());
    }
    if (confirmed.repeated()) {
      fields.put("repeated", true);
    }
    return withLineFeed(json(fields));
  }

  private static byte[] json(Map<String, Object> fields) {
    try {
      return JSON.writeValueAsBytes(fields);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
