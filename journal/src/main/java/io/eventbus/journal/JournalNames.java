package io.eventbus.journal;

import io.eventbus.protocol.Topic;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Rules for the names of journals and cursors: those of topics, but shorter. */
public final class JournalNames {
  /** Maximum size of a name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 128;

  private JournalNames() {}

  /**
   * Returns the error in a name.
   *
   * @param name any text
   * @return null for a legal name, else the reason
   */
  public static @Nullable String problem(String name) {
    String problem = Topic.problem(name);
    if (problem != null) {
      return problem;
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    return bytes <= MAX_BYTES
        ? null
        : "name of " + bytes + " bytes of UTF-8 (expected: at most " + MAX_BYTES + ")";
  }
}
