package io.eventbus.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Encoder of log entries as objects in JSON, each on a line, for collectors of logs:
 * {@code @timestamp} in ISO 8601 and UTC, {@code level}, {@code logger}, {@code thread}, {@code
 * message} as a person would read it, and {@code stack_trace} where there is one. Logback's own
 * encoder writes the message without its arguments, and the time as a number. Any thread.
 */
final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final ObjectWriter JSON = new ObjectMapper().writer();
  private static final byte[] NOTHING = {};

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("@timestamp", TIME.format(Instant.ofEpochMilli(event.getTimeStamp())));
    fields.put("level", event.getLevel().toString());
    fields.put("logger", event.getLoggerName());
    fields.put("thread", event.getThreadName());
    fields.put("message", event.getFormattedMessage());
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      fields.put("stack_trace", ThrowableProxyUtil.asString(thrown));
    }
    try {
      return (JSON.writeValueAsString(fields) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("texts can always be written", e);
    }
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}
