package io.eventbus.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The rules for names of services: those of a {@link Topic}, but shorter, so that a topic of the
 * system can be made of each, and never with a $ at the beginning.
 */
public final class ServiceName {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 240;

  private ServiceName() {}

  /**
   * Says what is wrong with a name.
   *
   * @param name any text
   * @return null for a legal name, else the reason, to be shown to the client
   */
  public static @Nullable String problem(String name) {
    String problem = Topic.nameProblem(name, "service");
    if (problem != null) {
      return problem;
    }
    if (name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      return "service "
          + Topic.quote(name)
          + " has more than "
          + MAX_BYTES
          + " bytes of UTF-8 (expected: at most "
          + MAX_BYTES
          + ")";
    }
    if (name.indexOf('*') >= 0 || name.indexOf('>') >= 0) {
      return "service "
          + Topic.quote(name)
          + " holds a wildcard (expected: a name without * and >)";
    }
    if (name.charAt(0) == Topic.SYSTEM) {
      return "service "
          + Topic.quote(name)
          + " is the system's (expected: a name that does not start with $)";
    }
    return null;
  }

  /**
   * Refuses a name that breaks the rules.
   *
   * @param name any text
   * @throws IllegalArgumentException if the name is illegal, saying why
   */
  public static void check(String name) {
    String problem = problem(name);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
  }
}
