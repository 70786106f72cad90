package io.eventbus.server.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** The JSON in which operators are told of a bus: times in ISO 8601, infinity as a string. */
public final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .addModule(new SimpleModule().addSerializer(Instant.class, ToStringSerializer.instance))
          .build();

  private Json() {}

  /**
   * Writes a value. Any thread.
   *
   * @param value a record, a collection, or what these hold
   * @return in UTF-8, in one line
   * @throws IOException if the value is of a type that cannot be written
   */
  public static byte[] write(Object value) throws IOException {
    return MAPPER.writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
  }
}
