package io.eventbus.server.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Quota of the clients of one identity, or of one account. Its name is the same in the
 * configuration, in a roles file and in a token.
 */
public enum Quota {
  /** Open connections. */
  CONNECTIONS(ValueType.COUNT, 10_000_000),
  /** Events published in a second. */
  PUBLISH_EVENTS(ValueType.COUNT, 1_000_000_000),
  /** Bytes of {@code Publish} frames in a second. */
  PUBLISH_BYTES(ValueType.SIZE, 1L << 40),
  /** Subscriptions of all connections. */
  SUBSCRIPTIONS(ValueType.COUNT, 10_000_000),
  /** Bytes that wait for all connections. */
  QUEUE_BYTES(ValueType.SIZE, 1L << 50),
  /** Requests to services in a second. */
  REQUESTS(ValueType.COUNT, 1_000_000_000),
  /** Calls of services in flight of all connections. */
  CALLS(ValueType.COUNT, 10_000_000),
  /** Bytes of the events in all journals of an account. */
  DURABLE_BYTES(ValueType.SIZE, 1L << 50, true),
  /** Journals of an account. */
  JOURNALS(ValueType.COUNT, 10_000, true);

  private final ValueType type;
  private final long max;
  private final boolean ofAccounts;

  Quota(ValueType type, long max) {
    this(type, max, false);
  }

  Quota(ValueType type, long max, boolean ofAccounts) {
    this.type = type;
    this.max = max;
    this.ofAccounts = ofAccounts;
  }

  /**
   * Returns whether only accounts have it, because identities share what it counts.
   *
   * @return false for one that identities have, too
   */
  public boolean isOfAccounts() {
    return ofAccounts;
  }

  /**
   * Returns the name for people.
   *
   * @return for example {@code publish-events}
   */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Finds a quota by its name.
   *
   * @param key what somebody wrote
   * @param ofAccount whether it is for an account, else for an identity
   * @return nothing where there is none of this name
   */
  public static Optional<Quota> find(String key, boolean ofAccount) {
    return all(ofAccount).filter(quota -> quota.key().equals(key)).findFirst();
  }

  /**
   * Returns the quotas of an account, or of an identity.
   *
   * @param ofAccount whether they are for an account
   * @return in the order of this type
   */
  public static Stream<Quota> all(boolean ofAccount) {
    return Arrays.stream(values()).filter(quota -> ofAccount || !quota.ofAccounts);
  }

  /**
   * Returns all names, for people.
   *
   * @param ofAccount whether they are for an account, else for an identity
   * @return with commas between
   */
  public static String keys(boolean ofAccount) {
    return all(ofAccount).map(Quota::key).collect(Collectors.joining(", "));
  }

  /**
   * Returns whether a value is in range.
   *
   * @param value 0 for no limit
   * @return false if it is out of range
   */
  public boolean isLegal(long value) {
    return value >= 0 && value <= max;
  }

  /**
   * Reads a value.
   *
   * @param text for example "1000" or "4MiB"
   * @return the limit, 0 for none
   * @throws IllegalArgumentException if it is none; says what was expected
   */
  public long read(String text) {
    long value;
    try {
      value = type.read(text);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException("is none (expected: " + expectation() + ")", e);
    }
    if (!isLegal(value)) {
      throw new IllegalArgumentException("is out of range (expected: " + expectation() + ")");
    }
    return value;
  }

  /**
   * Returns a limit for people.
   *
   * @param limit 0 for no limit
   * @return what {@link #read} reads, or "no limit"
   */
  public String print(long limit) {
    return limit == 0 ? "no limit" : type.print(limit);
  }

  private String expectation() {
    return type.expectation() + ", 0 for no limit, at most " + type.print(max);
  }

  /**
   * Returns the maximum of the limit.
   *
   * @return in the quota's unit
   */
  public long max() {
    return max;
  }
}
