package io.eventbus.server.config;

/**
 * Limits on what the bus accepts from a client and keeps for it.
 *
 * @param payloadBytes largest payload of one event
 * @param messageBytes largest WebSocket message; holds the largest event
 * @param headers largest number of headers of one event
 * @param headerBytes largest sum of an event's header names and values
 * @param subscriptions subscriptions of one connection
 * @param subscriptionBytes heap that all subscriptions may take, 0 for a quarter of the JVM's
 * @param groups different groups of one connection
 * @param topicGroups groups of one topic, and again of all filters with wildcards
 * @param wildcardPatterns different patterns of wildcards among all filters
 * @param accounts accounts that may have clients at once, besides the default one
 * @param queueBytes bytes that may wait for one connection, at least twice {@code messageBytes}
 * @param memoryBytes bytes that may wait on the whole bus, 0 for a share of the JVM's memory
 * @param helloBytes largest message before {@code Welcome}
 */
public record LimitsConfig(
    int payloadBytes,
    int messageBytes,
    int headers,
    int headerBytes,
    int subscriptions,
    long subscriptionBytes,
    int groups,
    int topicGroups,
    int wildcardPatterns,
    int accounts,
    long queueBytes,
    long memoryBytes,
    int helloBytes) {
  /**
   * Size of frame head, topic, key, and the lengths of fields and headers, rounded up generously.
   */
  private static final int EVENT_OVERHEAD_BYTES = 16 << 10;

  /**
   * Checks every value against its range in {@link ConfigKey}, and against the others.
   *
   * @param payloadBytes largest payload of one event
   * @param messageBytes largest WebSocket message; holds the largest event
   * @param headers largest number of headers of one event
   * @param headerBytes largest sum of an event's header names and values
   * @param subscriptions subscriptions of one connection
   * @param subscriptionBytes heap that all subscriptions may take, 0 for a quarter of the JVM's
   * @param groups different groups of one connection
   * @param topicGroups groups of one topic, and again of all filters with wildcards
   * @param wildcardPatterns different patterns of wildcards among all filters
   * @param accounts accounts that may have clients at once, besides the default one
   * @param queueBytes bytes that may wait for one connection, at least twice {@code messageBytes}
   * @param memoryBytes bytes that may wait on the whole bus, 0 for a share of the JVM's memory
   * @param helloBytes largest message before {@code Welcome}
   * @throws IllegalArgumentException if a value is out of range or does not fit the others
   */
  public LimitsConfig {
    ConfigKey.LIMITS_PAYLOAD_BYTES.inRange(payloadBytes);
    ConfigKey.LIMITS_MESSAGE_BYTES.inRange(messageBytes);
    ConfigKey.LIMITS_HEADERS.inRange(headers);
    ConfigKey.LIMITS_HEADER_BYTES.inRange(headerBytes);
    ConfigKey.LIMITS_SUBSCRIPTIONS.inRange(subscriptions);
    ConfigKey.LIMITS_SUBSCRIPTION_BYTES.inRange(subscriptionBytes);
    ConfigKey.LIMITS_GROUPS.inRange(groups);
    ConfigKey.LIMITS_TOPIC_GROUPS.inRange(topicGroups);
    ConfigKey.LIMITS_WILDCARD_PATTERNS.inRange(wildcardPatterns);
    ConfigKey.LIMITS_ACCOUNTS.inRange(accounts);
    ConfigKey.LIMITS_QUEUE_BYTES.inRange(queueBytes);
    ConfigKey.LIMITS_MEMORY_BYTES.inRange(memoryBytes);
    ConfigKey.LIMITS_HELLO_BYTES.inRange(helloBytes);
    atLeast(
        ConfigKey.LIMITS_MESSAGE_BYTES,
        messageBytes,
        (long) payloadBytes + headerBytes + EVENT_OVERHEAD_BYTES,
        "limits.payload-bytes + limits.header-bytes + 16KiB");
    atLeast(
        ConfigKey.LIMITS_MESSAGE_BYTES,
        messageBytes,
        helloBytes,
        ConfigKey.LIMITS_HELLO_BYTES.key());
    // Otherwise one message could fill a queue that still sends the message before it.
    atLeast(
        ConfigKey.LIMITS_QUEUE_BYTES, queueBytes, 2L * messageBytes, "2 * limits.message-bytes");
    if (memoryBytes != 0) {
      atLeast(
          ConfigKey.LIMITS_MEMORY_BYTES,
          memoryBytes,
          queueBytes,
          ConfigKey.LIMITS_QUEUE_BYTES.key() + ", or 0");
    }
  }

  /**
   * Returns the heap for all subscriptions together.
   *
   * @return bytes, by estimate
   */
  public long subscriptionBudget() {
    return subscriptionBytes != 0 ? subscriptionBytes : Runtime.getRuntime().maxMemory() / 4;
  }

  private static void atLeast(ConfigKey key, long value, long min, String because) {
    if (value < min) {
      throw new IllegalArgumentException(
          key.key()
              + ": "
              + key.type().print(value)
              + " (expected: >= "
              + key.type().print(min)
              + ", "
              + because
              + ")");
    }
  }
}
