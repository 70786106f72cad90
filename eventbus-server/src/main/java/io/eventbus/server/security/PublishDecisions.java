package io.eventbus.server.security;

/**
 * Remembers to which topics one client may publish, so that each is decided once and not for each
 * frame. Confined to the loop of the client's connection.
 *
 * <p>Topics are known by the numbers that their loop has given them: a publisher that stays with a
 * topic costs one comparison, one that has a few costs a look at a table without chains, in which a
 * topic takes the place of another.
 */
public final class PublishDecisions {
  private static final int SLOTS = 16;

  /** So many tokens are compared in the time of one unit of a turn. */
  private static final int STEPS = 4;

  private final FilterRules rules;
  private final int prefix;
  private long lastAllowed;
  private int work;

  /** Numbers of topics: as they are where they are allowed, negative where they are not. */
  private final long[] decided = new long[SLOTS];

  /**
   * Remembers nothing yet.
   *
   * @param rules to which topics the client may publish
   */
  public PublishDecisions(FilterRules rules) {
    this(rules, 0);
  }

  /**
   * Remembers nothing yet, for topics of which the rules know only a part.
   *
   * @param rules what the client may do with what is behind the prefix
   * @param prefix how many characters of each topic are not looked at
   */
  public PublishDecisions(FilterRules rules, int prefix) {
    this.prefix = prefix;
    this.rules = rules;
  }

  /**
   * Says whether the client may publish to a topic. Allocates nothing.
   *
   * @param number what the loop knows the topic by: at least 1, and never that of another topic
   * @return true if it may
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
   * Returns what asking the rules has cost since the last call: a client may publish to ever new
   * topics.
   *
   * @return units of a turn; 0 where nothing had to be asked
   */
  public int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }
}
