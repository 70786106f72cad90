package io.eventbus.loadtest.attack;

import java.util.Map;
import java.util.TreeMap;

/** Needs of an attack beside its own program, and the harm to others that is allowed. Immutable. */
public final class Needs {
  /** The default configuration, and nothing else. */
  public static final Needs NOTHING = new Needs();

  private static final int MAX_MILLIS = 250;

  /** For attacks at which one step of the bus is long by its nature. */
  private static final int LONG_STEPS = 500;

  /** The default of {@code limits.block-stall-time}, and a second until that is seen. */
  private static final int BLOCK_HOLD = 6_000;

  /** The journal of the honest pairs. */
  private static final String HONEST_JOURNAL = "honest durable.>";

  /** Permissions of the honest pairs. */
  private static final String EVERYONE =
      """
      [everyone]
      allow publish >
      allow subscribe >
      allow block >
      allow request >
      allow serve >
      """;

  private Map<String, String> settings = Map.of();
  private boolean tls;
  private String token = "";
  private int descriptors;
  private int leastSeconds;
  private int bulkBytesPerSecond;
  private int maxMillis = MAX_MILLIS;
  private int logLinesPerSecond = Integer.MAX_VALUE;
  private boolean log;
  private double p99Factor;
  private String roles = "";
  private boolean cluster;
  private boolean together;
  private String adminToken = "";
  private String journals = "";

  private Needs() {}

  private Needs copy() {
    Needs copy = new Needs();
    copy.settings = settings;
    copy.tls = tls;
    copy.token = token;
    copy.descriptors = descriptors;
    copy.leastSeconds = leastSeconds;
    copy.bulkBytesPerSecond = bulkBytesPerSecond;
    copy.maxMillis = maxMillis;
    copy.logLinesPerSecond = logLinesPerSecond;
    copy.log = log;
    copy.p99Factor = p99Factor;
    copy.roles = roles;
    copy.cluster = cluster;
    copy.together = together;
    copy.adminToken = adminToken;
    copy.journals = journals;
    return copy;
  }

  /** Returns these needs and a setting. */
  public Needs with(String key, String value) {
    Needs copy = copy();
    Map<String, String> all = new TreeMap<>(settings);
    all.put(key, value);
    copy.settings = Map.copyOf(all);
    return copy;
  }

  /** Returns these needs with TLS. */
  public Needs withTls() {
    Needs copy = copy();
    copy.tls = true;
    return copy;
  }

  /** Returns these needs with a token. */
  public Needs withToken(String secret) {
    Needs copy = copy();
    copy.token = secret;
    return copy;
  }

  /** Returns these needs with few descriptors. */
  public Needs withDescriptors(int max) {
    Needs copy = copy();
    copy.descriptors = max;
    return copy;
  }

  /**
   * Returns these needs with a duration.
   *
   * @param seconds at least, because it shows nothing in less
   */
  public Needs lasting(int seconds) {
    Needs copy = copy();
    copy.leastSeconds = seconds;
    return copy;
  }

  /** Returns these needs with one more honest pair. */
  public Needs withBulk(int bytesPerSecond) {
    Needs copy = copy();
    copy.bulkBytesPerSecond = bytesPerSecond;
    return copy;
  }

  /** Returns these needs with a longer time that an event may take. */
  public Needs withLongSteps() {
    Needs copy = copy();
    copy.maxMillis = LONG_STEPS;
    return copy;
  }

  /** Returns these needs with the time for which one subscriber may stall publishers. */
  public Needs withBlockHold() {
    Needs copy = copy();
    copy.maxMillis = BLOCK_HOLD;
    return copy;
  }

  /**
   * Returns these needs with a bound for the log.
   *
   * @param lines that the bus may write in a second
   */
  public Needs withLogLinesPerSecond(int lines) {
    Needs copy = copy();
    copy.logLinesPerSecond = lines;
    return copy;
  }

  /** Returns these needs with a log that has to tell of the attack. */
  public Needs withLog() {
    Needs copy = copy();
    copy.log = true;
    return copy;
  }

  /**
   * Returns these needs with accounts: the honest are in {@code honest}, the attackers in {@code
   * hostile}, and each shows a token that says so.
   *
   * @param lines end of the roles file, behind what everyone may do
   */
  public Needs withAccounts(String lines) {
    Needs copy = copy();
    copy.roles = EVERYONE + lines;
    return copy;
  }

  /**
   * Returns these needs with a bound for 99 % of the honest events.
   *
   * @param factor how many times as long as in the quiet phase they may take
   */
  public Needs withP99Factor(double factor) {
    Needs copy = copy();
    copy.p99Factor = factor;
    return copy;
  }

  /**
   * Returns these needs with a second bus in one cluster: the attackers are clients of one, the
   * honest of the other.
   */
  public Needs withCluster() {
    Needs copy = copy();
    copy.cluster = true;
    return copy;
  }

  /**
   * Returns these needs with a second bus in one cluster, which has no clients: attackers and
   * honest are clients of the same.
   */
  public Needs withNeighbour() {
    Needs copy = withCluster();
    copy.together = true;
    return copy;
  }

  /**
   * Returns these needs with a token for operators.
   *
   * @param secret what they show, 16 characters at least
   */
  public Needs withAdminToken(String secret) {
    Needs copy = copy();
    copy.adminToken = secret;
    return copy;
  }

  /**
   * Returns these needs with durable topics, and with one more honest pair for each pair: its topic
   * is durable.
   *
   * @param list journals of the attackers, as in {@code durable.journals}; empty for none
   */
  public Needs withJournals(String list) {
    Needs copy = copy();
    copy.journals = list.isEmpty() ? HONEST_JOURNAL : HONEST_JOURNAL + ", " + list;
    return copy;
  }

  /**
   * Returns all journals.
   *
   * @return empty for a bus without durable topics
   */
  public String journals() {
    if (roles.isEmpty()) {
      return journals;
    }
    // Each of its owner's account.
    return journals.replaceFirst(HONEST_JOURNAL, HONEST_JOURNAL + " account=honest");
  }

  /**
   * Returns whether there are two buses.
   *
   * @return true if there are
   */
  public boolean cluster() {
    return cluster;
  }

  /**
   * Returns whether the honest are clients of the attacked bus although there are two.
   *
   * @return true if they are
   */
  public boolean together() {
    return together;
  }

  /**
   * Returns what operators have to show.
   *
   * @return empty for nothing
   */
  public String adminToken() {
    return adminToken;
  }

  /**
   * Returns the roles file.
   *
   * @return empty where there are no accounts
   */
  public String roles() {
    return roles;
  }

  /** Returns the configuration. */
  public Map<String, String> settings() {
    return settings;
  }

  /**
   * Returns whether the bus speaks TLS.
   *
   * @return true if it does
   */
  public boolean tls() {
    return tls;
  }

  /**
   * Returns what clients have to show.
   *
   * @return empty for nothing
   */
  public String token() {
    return token;
  }

  /**
   * Returns what the bus may open at most.
   *
   * @return 0 for what this process may
   */
  public int descriptors() {
    return descriptors;
  }

  /**
   * Returns how long it lasts at least.
   *
   * @return seconds
   */
  public int leastSeconds() {
    return leastSeconds;
  }

  /**
   * Returns what the large pair publishes.
   *
   * @return bytes per second, 0 for no such pair
   */
  public int bulkBytesPerSecond() {
    return bulkBytesPerSecond;
  }

  /** Returns what the honest may notice. */
  public AttackTargets targets() {
    return new AttackTargets(maxMillis, logLinesPerSecond, log, p99Factor);
  }
}
