package io.eventbus.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Rules for the names of producers that applications choose: those of topics, but shorter and
 * without a slash, as those of journals.
 */
public final class ProducerName {
  /** Maximum size of a name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 63;

  /** Maximum number of an event, with room for those of a whole frame behind it. */
  public static final long MAX_NUMBER = Long.MAX_VALUE - FrameLimits.MAX_PUBLISHED_EVENTS;

  private ProducerName() {}

  /**
   * Returns the error in a name.
   *
   * @param name any text
   * @return null for a legal name, else the reason, to be shown to the client
   */
  public static @Nullable String problem(String name) {
    String problem = Topic.problem(name);
    if (problem != null) {
      return "producer name: " + problem;
    }
    if (name.indexOf('/') >= 0) {
      return "producer name: " + Topic.quote(name) + " holds a slash (expected: none)";
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    return bytes <= MAX_BYTES
        ? null
        : "producer name: "
            + Topic.quote(name)
            + " has "
            + bytes
            + " bytes of UTF-8 (expected: at most "
            + MAX_BYTES
            + ")";
  }
}
