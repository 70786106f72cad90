package io.eventbus.server.security;

/**
 * Remembered decisions on the topics that one client may publish to, so that each is decided once
 * and not for each frame. Confined to the loop of the client's connection.
 *
 * <p>Topics are known by the numbers that their loop has given them: a publisher that stays with a
 * topic costs one comparison, one that has a few costs a look at a table without chains, in which a
 * topic takes the place of another.
 */
public final class PublishDecisions {
  private static final int SLOTS = 16;

  /** Tokens that are compared in the time of one unit of a turn. */
  private static final int STEPS = 4;

  private final FilterRules rules;
  private final int prefix;
  private long lastAllowed;
  private int work;

  /** Numbers of topics: positive if allowed, negative if not. */
  private final long[] decided = new long[SLOTS];

  /**
   * Creates an empty memory.
   *
   * @param rules topics that the client may publish to
   */
  public PublishDecisions(FilterRules rules) {
    this(rules, 0);
  }

  /**
   * Creates an empty memory, for topics of which the rules know only a part.
   *
   * @param rules what the client may do with what is behind the prefix
   * @param prefix number of characters of each topic that do not matter
   */
  public PublishDecisions(FilterRules rules, int prefix) {
    this.prefix = prefix;
    this.rules = rules;
  }

  /**
   * Returns whether the client may publish to a topic. Allocates nothing.
   *
   * @param number the loop's number of the topic: at least 1, and never that of another topic
   */
  public boolean allow(long number, String topic) {
    return number == lastAllowed || lookUp(number, topic);
  }

  private boolean lookUp(long number, String topic) {
    int slot = (int) number & (SLOTS - 1);
    if (decided[slot] != number && decided[slot] != -number) {
      decided[slot] = rules.allows(topic.substring(prefix)) ? number : -number;
      work += 1 + rules.steps() / STEPS;
    }
    boolean allowed = decided[slot] == number;
    if (allowed) {
      lastAllowed = number;
    }
    return allowed;
  }

  /**
   * Returns the cost of the rules since the last call, in units of a turn, 0 if none was checked: a
   * client may publish to ever new topics.
   */
  public int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }
}
