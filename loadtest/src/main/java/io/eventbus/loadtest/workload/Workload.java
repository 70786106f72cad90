package io.eventbus.loadtest.workload;

import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Work for a system under test.
 *
 * <p>Publisher number p sends to the topics {@code load.0} to {@code load.<topics - 1>} in turn.
 * Every figure applies to each driver alike.
 *
 * @param payloadBytes bytes of one event's payload; the first {@value #MIN_PAYLOAD_BYTES} identify
 *     it
 * @param rate events per second of all publishers together; 0 for as fast as possible
 * @param messages events that each publisher sends in the measured part; 0 for as many as {@code
 *     duration} holds
 * @param window events that a publisher may have sent and not every subscriber received; 0 for no
 *     bound
 * @param warmUp how long events flow before anything is recorded
 * @param filters what the subscribers ask for: number s takes filter {@code s % size}, in which
 *     {@code {subscriber}} stands for s; empty for everything
 * @param idle connections that do nothing, instead of publishers and subscribers; 0 for an ordinary
 *     workload
 * @param mayLose names of the systems whose lost events are counted and shown but do not make the
 *     load test fail: those that are known to lose some when they are pushed like this
 * @param calls requests in flight from one caller to one member, instead of publishers and
 *     subscribers; 0 for an ordinary workload
 * @param registers registers that clients write, instead of publishers and subscribers; null for an
 *     ordinary workload
 * @param durable a topic whose events are stored; null for an ordinary workload
 */
public record Workload(
    String name,
    String description,
    int publishers,
    int subscribers,
    int topics,
    int payloadBytes,
    long rate,
    long messages,
    int window,
    Duration warmUp,
    Duration duration,
    int runs,
    int latencyEvery,
    List<String> filters,
    Slowness slow,
    int idle,
    List<String> mayLose,
    Cluster cluster,
    boolean takeTurns,
    Login login,
    int calls,
    @Nullable Registers registers,
    @Nullable DurableTopic durable) {

  /** Bytes of a payload that identify the event. */
  public static final int MIN_PAYLOAD_BYTES = 16;

  /** The most publishers: the mark in the payload has 16 bits for them. */
  public static final int MAX_PUBLISHERS = 10_000;

  /** The most subscribers. */
  public static final int MAX_SUBSCRIBERS = 100_000;

  /** The most topics: the mark in the payload has 20 bits for them. */
  public static final int MAX_TOPICS = 1_000_000;

  /** The most calls in flight. */
  public static final int MAX_CALLS = 100_000;

  /** The name of the short variant. */
  static final String SMOKE = "smoke";

  /** The most counters that the integrity check may need: 8 bytes each. */
  private static final long MAX_CELLS = 64_000_000;

  private static final String NAME = "[a-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?";

  /** Checks every figure, and that they go together. */
  public Workload {
    if (!name.matches(NAME)) {
      throw new IllegalArgumentException(
          "name: " + name + " (expected: letters, digits, . _ - and at most one /)");
    }
    require("publishers", publishers, 1, MAX_PUBLISHERS);
    require("subscribers", subscribers, 1, MAX_SUBSCRIBERS);
    require("topics", topics, 1, MAX_TOPICS);
    require("payloadBytes", payloadBytes, MIN_PAYLOAD_BYTES, 1024 * 1024);
    require("rate", rate, 0, 100_000_000);
    require("messages", messages, 0, 1L << 40);
    require("window", window, 0, 1 << 24);
    requireDuration("warmUp", warmUp, Duration.ofHours(1));
    requireDuration("duration", duration, Duration.ofHours(24));
    if (duration.isZero()) {
      throw new IllegalArgumentException("duration: 0 (expected: > 0)");
    }
    require("idle", idle, 0, MAX_SUBSCRIBERS);
    require("calls", calls, 0, MAX_CALLS);
    if (calls > 0 && (idle > 0 || messages > 0 || rate > 0 || cluster.servers() > 1)) {
      throw new IllegalArgumentException(
          "calls: " + calls + " (expected: without idle, messages, rate and cluster)");
    }
    if (registers != null && (calls > 0 || idle > 0 || messages > 0 || rate > 0)) {
      throw new IllegalArgumentException(
          "registers: there (expected: without calls, idle, messages and rate)");
    }
    if (durable != null && (calls > 0 || idle > 0 || registers != null)) {
      throw new IllegalArgumentException(
          "durable: there (expected: without calls, idle and registers)");
    }
    require("runs", runs, 1, 1000);
    require("latencyEvery", latencyEvery, 1, 1_000_000);
    filters = List.copyOf(filters);
    filters.forEach(Filters::check);
    mayLose = List.copyOf(mayLose);
    if (slow.subscribers() > subscribers) {
      throw new IllegalArgumentException(
          "slow.subscribers: "
              + slow.subscribers()
              + " (expected: at most subscribers, "
              + subscribers
              + ")");
    }
    if (idle > 0 && cluster.servers() > 1) {
      throw new IllegalArgumentException(
          "cluster.servers: " + cluster.servers() + " (expected: 1 with idle connections)");
    }
    long cells = (long) publishers * topics * (filters.isEmpty() ? subscribers : 1);
    if (cells > MAX_CELLS) {
      throw new IllegalArgumentException(
          "publishers x topics x subscribers: "
              + cells
              + " (expected: at most "
              + MAX_CELLS
              + ", because each is counted)");
    }
    if (durable != null) {
      durable.checkWith(publishers, subscribers, topics, messages, rate);
    }
  }

  /**
   * Returns the name of a topic.
   *
   * @param topic its number, from 0
   */
  public static String topic(int topic) {
    return "load." + topic;
  }

  /** Returns a workload that a report names and that {@code run} does not know. */
  public static Workload described(String name, String description) {
    return new Workload(
        name,
        description,
        1,
        1,
        1,
        MIN_PAYLOAD_BYTES,
        0,
        0,
        0,
        Duration.ZERO,
        Duration.ofSeconds(1),
        1,
        1,
        List.of(),
        Slowness.NONE,
        0,
        List.of(),
        Cluster.ALONE,
        false,
        Login.NONE,
        0,
        null,
        null);
  }

  /** Makes the same workload with other times. */
  public Workload lasting(Duration newWarmUp, Duration newDuration) {
    return with(newWarmUp, newDuration, durable);
  }

  /**
   * Makes the same workload with the servers' data elsewhere.
   *
   * @param data a directory
   */
  public Workload storing(String data) {
    return durable == null ? this : with(warmUp, duration, durable.in(data));
  }

  private Workload with(
      Duration newWarmUp, Duration newDuration, @Nullable DurableTopic newDurable) {
    return new Workload(
        name,
        description,
        publishers,
        subscribers,
        topics,
        payloadBytes,
        rate,
        messages,
        window,
        newWarmUp,
        newDuration,
        runs,
        latencyEvery,
        filters,
        slow,
        idle,
        mayLose,
        cluster,
        takeTurns,
        login,
        calls,
        registers,
        newDurable);
  }

  /**
   * Returns the filter of a subscriber.
   *
   * @param subscriber its number, from 0
   */
  public String filter(int subscriber) {
    if (filters.isEmpty()) {
      return topics == 1 ? topic(0) : "load.>";
    }
    return filters
        .get(subscriber % filters.size())
        .replace(Filters.SUBSCRIBER, Integer.toString(subscriber));
  }

  /**
   * Returns the topics that a subscriber must get.
   *
   * @param subscriber its number, from 0
   */
  public BitSet topicsOf(int subscriber) {
    BitSet expected = new BitSet(topics);
    String filter = filter(subscriber);
    if (!filter.contains("*") && !filter.contains(">")) {
      // With a connection for each topic this is the difference between n and n x n comparisons.
      setExact(expected, filter);
      return expected;
    }
    for (int topic = 0; topic < topics; topic++) {
      if (Filters.matches(filter, topic(topic))) {
        expected.set(topic);
      }
    }
    return expected;
  }

  private void setExact(BitSet expected, String filter) {
    String digits = filter.startsWith("load.") ? filter.substring("load.".length()) : "";
    if (digits.matches("0|[1-9][0-9]{0,8}") && Integer.parseInt(digits) < topics) {
      expected.set(Integer.parseInt(digits));
    }
  }

  /**
   * Returns whether a subscriber is one of the slow ones.
   *
   * @param subscriber its number, from 0
   */
  public boolean isSlow(int subscriber) {
    return subscriber >= subscribers - slow.subscribers();
  }

  /**
   * Returns whether this is the short variant, which shows that a workload works and measures
   * nothing.
   */
  public boolean isSmoke() {
    return name.endsWith("/" + SMOKE);
  }

  /** Returns the part of the name before the variant. */
  public String family() {
    int slash = name.indexOf('/');
    return slash < 0 ? name : name.substring(0, slash);
  }

  /** Names what takes turns, run by run. */
  public String turns() {
    return takeTurns ? family() : name;
  }

  static void require(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
  }

  static void requireDuration(String name, Duration value, Duration max) {
    if (value.isNegative() || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: 0 to " + max.toSeconds() + "s)");
    }
  }
}
