package io.eventbus.client;

import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Mapping of CloudEvents 1.0 to events and back, in the binary mode: attributes are headers that
 * begin with {@code ce-}, {@code datacontenttype} is the header {@code content-type}, and the data
 * are the payload, unchanged. Stateless; any thread.
 *
 * <p>The source is the specification of the CNCF, with the rules of its HTTP binding for the values
 * of headers: all characters but printable ASCII, and {@code "} and {@code %}, are percent-encoded
 * UTF-8.
 */
public final class CloudEvents {
  /** Version of the specification. */
  public static final String SPEC_VERSION = "1.0";

  private static final String PREFIX = "ce-";
  private static final String CONTENT_TYPE = "content-type";
  private static final Pattern NAME = Pattern.compile("[a-z0-9]{1,64}");

  private CloudEvents() {}

  /**
   * CloudEvent without its data. Immutable.
   *
   * @param id unique among those of its source
   * @param source the origin, a URI reference
   * @param type the kind of event
   * @param subject the part of the source that it is about; null for none
   * @param time the time of the event; null if unknown
   * @param dataContentType the media type of the data; null if not stated
   * @param dataSchema the schema of the data, a URI; null for none
   * @param extensions further attributes by name
   */
  public record Attributes(
      String id,
      String source,
      String type,
      @Nullable String subject,
      @Nullable Instant time,
      @Nullable String dataContentType,
      @Nullable String dataSchema,
      Map<String, String> extensions) {
    /**
     * Checks the parts.
     *
     * @param id as above
     * @param source as above
     * @param type as above
     * @param subject as above
     * @param time as above
     * @param dataContentType as above
     * @param dataSchema as above
     * @param extensions as above; copied
     * @throws IllegalArgumentException if one that is needed is empty, or an extension's name is
     *     not 1 to 64 lower-case letters and digits, or that of another attribute
     */
    public Attributes {
      required("id", id);
      required("source", source);
      required("type", type);
      extensions = Map.copyOf(extensions);
      for (String name : extensions.keySet()) {
        if (!NAME.matcher(name).matches() || OWN.contains(name)) {
          throw new IllegalArgumentException(
              "extension: "
                  + name
                  + " (expected: 1 to 64 lower-case letters and digits, not the name of another"
                  + " attribute)");
        }
      }
    }

    private static final java.util.Set<String> OWN =
        java.util.Set.of(
            "specversion",
            "id",
            "source",
            "type",
            "subject",
            "time",
            "datacontenttype",
            "dataschema",
            "data");

    private static void required(String name, String value) {
      if (value.isEmpty()) {
        throw new IllegalArgumentException(name + ": empty (expected: at least one character)");
      }
    }

    /**
     * Creates attributes with only the required ones.
     *
     * @param id as above
     * @param source as above
     * @param type as above
     * @return the attributes
     */
    public static Attributes of(String id, String source, String type) {
      return new Attributes(id, source, type, null, null, null, null, Map.of());
    }
  }

  /**
   * Creates an event from a CloudEvent.
   *
   * @param attributes its attributes
   * @param data its data, perhaps empty
   * @return a builder without a key and schema, which can be added
   */
  public static Event.Builder toEvent(Attributes attributes, byte[] data) {
    Map<String, String> headers = new TreeMap<>();
    put(headers, "specversion", SPEC_VERSION);
    put(headers, "id", attributes.id());
    put(headers, "source", attributes.source());
    put(headers, "type", attributes.type());
    put(headers, "subject", attributes.subject());
    Instant time = attributes.time();
    put(headers, "time", time == null ? null : time.toString());
    put(headers, "dataschema", attributes.dataSchema());
    attributes.extensions().forEach((name, value) -> put(headers, name, value));
    String contentType = attributes.dataContentType();
    if (contentType != null) {
      headers.put(CONTENT_TYPE, contentType);
    }
    return Event.builder(data).headers(headers);
  }

  private static void put(Map<String, String> headers, String name, @Nullable String value) {
    if (value != null) {
      headers.put(PREFIX + name, encode(value));
    }
  }

  /**
   * Reads the attributes of an event that holds a CloudEvent; the data are its payload.
   *
   * @param headers those of the event, with names in lower case
   * @return empty if it has no headers of CloudEvents
   * @throws IllegalArgumentException if the CloudEvent is illegal or of another version, saying why
   */
  public static Optional<Attributes> fromHeaders(Map<String, String> headers) {
    if (!headers.containsKey(PREFIX + "specversion")) {
      return Optional.empty();
    }
    Map<String, String> all = new HashMap<>();
    headers.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX)) {
            all.put(name.substring(PREFIX.length()), decode(name, value));
          }
        });
    String version = all.remove("specversion");
    if (!SPEC_VERSION.equals(version)) {
      throw new IllegalArgumentException(
          "ce-specversion: " + version + " (expected: " + SPEC_VERSION + ")");
    }
    return Optional.of(
        new Attributes(
            needed(all, "id"),
            needed(all, "source"),
            needed(all, "type"),
            all.remove("subject"),
            time(all.remove("time")),
            headers.get(CONTENT_TYPE),
            all.remove("dataschema"),
            all));
  }

  private static String needed(Map<String, String> all, String name) {
    String value = all.remove(name);
    if (value == null) {
      throw new IllegalArgumentException(
          PREFIX + name + ": missing (expected: in every CloudEvent)");
    }
    return value;
  }

  private static @Nullable Instant time(@Nullable String text) {
    try {
      return text == null ? null : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "ce-time: " + text + " (expected: a time by RFC 3339, such as 2026-01-02T03:04:05Z)", e);
    }
  }

  private static String encode(String value) {
    StringBuilder encoded = new StringBuilder(value.length());
    for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
      if (b > ' ' && b <= '~' && b != '"' && b != '%') {
        encoded.append((char) b);
      } else {
        encoded.append(String.format("%%%02X", b));
      }
    }
    return encoded.toString();
  }

  private static String decode(String name, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    byte[] decoded = new byte[bytes.length];
    int length = 0;
    for (int i = 0; i < bytes.length; i++) {
      int high = i + 2 < bytes.length ? Character.digit(bytes[i + 1], 16) : -1;
      int low = i + 2 < bytes.length ? Character.digit(bytes[i + 2], 16) : -1;
      if (bytes[i] == '%' && high >= 0 && low >= 0) {
        decoded[length++] = (byte) (16 * high + low);
        i += 2;
      } else {
        decoded[length++] = bytes[i];
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(java.nio.ByteBuffer.wrap(decoded, 0, length))
          .toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          name + ": no UTF-8 when it is decoded (expected: percent-encoded UTF-8)", e);
    }
  }
}
