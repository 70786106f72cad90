package io.eventbus.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Rules for names of services: those of a {@link Topic}, but shorter, so that a system topic can be
 * made of each, and never with a $ at the beginning.
 */
public final class ServiceName {
  /** Maximum size of a name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 240;

  /** Service that is the bus itself: it can be called, and not served. */
  public static final String BUS = "$bus";

  /** Prefix of the topic of broadcasts to a service. */
  public static final String TOPICS = "$SRV.";

  // The longest prefix of a system topic that is made of a name.
  private static final String PRESENCE = "$SYS.services.";

  private static final int MAX_TOKENS = Topic.MAX_TOKENS - 2;

  private ServiceName() {}

  /**
   * Returns the topic on which a bus tells which members join and leave a service.
   *
   * @param name a legal name
   * @return a system topic
   */
  public static String presenceTopic(String name) {
    return PRESENCE + name;
  }

  /**
   * Returns the topic of broadcasts to a service.
   *
   * @param name a legal name
   * @return a system topic
   */
  public static String broadcastTopic(String name) {
    return TOPICS + name;
  }

  /**
   * Returns the error in a name.
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
    if (Topic.formProblem(presenceTopic(name)) != null) {
      return "service "
          + Topic.quote(name)
          + " has more than "
          + MAX_TOKENS
          + " tokens (expected: at most "
          + MAX_TOKENS
          + ")";
    }
    return null;
  }

  /**
   * Returns the error in a name that is to be called.
   *
   * @param name any text
   * @return null for a legal name and for that of the bus, else the reason
   */
  public static @Nullable String callProblem(String name) {
    return name.equals(BUS) ? null : problem(name);
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
