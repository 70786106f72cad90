package io.eventbus.client.internal.inbound;

import io.eventbus.schema.Gap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Deliveries that arrive while a client has two connections, and must not be handed on yet. Guarded
 * by the {@link Dispatcher}'s lock.
 *
 * <p>An event for subscriptions without a group comes over both connections: those of the new one
 * wait here until the old one is drained, and then duplicates are dropped by their number. An event
 * for a group comes over one of the two, whichever the bus has chosen: for topics with a group both
 * connections' deliveries wait here, and are put in the order of their numbers.
 */
public final class HeldDeliveries {
  /** Bytes of the new connection that are held; beyond that it is not read. */
  public static final long MAX_BYTES = 16L << 20;

  /** Bytes that a bus that knows of credit may send over the new connection, which is read then. */
  public static final long CREDIT_BYTES = MAX_BYTES / 4;

  /**
   * Held {@code Deliver} frame or {@code Gap}.
   *
   * @param message holds the frame; null for a gap
   */
  record Held(
      @Nullable ByteBuffer message,
      int from,
      int to,
      @Nullable Gap gap,
      long sequence,
      boolean fresh) {}

  private final List<Held> plain = new ArrayList<>();
  private final Map<ProducerState, List<Held>> grouped = new LinkedHashMap<>();
  private long bytes;
  private long oldBytes;
  private boolean groupsOnly;

  /** Holds a delivery of the new connection for a topic without groups. */
  void add(ByteBuffer message, int from, int to) {
    if (!groupsOnly) {
      plain.add(new Held(message, from, to, null, 0, true));
      bytes += to - from;
    }
  }

  /** Holds a gap of the new connection. */
  void add(Gap gap) {
    if (!groupsOnly) {
      plain.add(new Held(null, 0, 0, gap, 0, true));
      bytes += gap.getTopic().length();
    }
  }

  /** Holds a delivery of either connection for a topic with a group. */
  void add(
      ProducerState origin, long sequence, ByteBuffer message, int from, int to, boolean fresh) {
    grouped
        .computeIfAbsent(origin, o -> new ArrayList<>())
        .add(new Held(message, from, to, null, sequence, fresh));
    if (fresh) {
      bytes += to - from;
    } else {
      oldBytes += to - from;
    }
  }

  boolean isFull() {
    return !groupsOnly && bytes > MAX_BYTES;
  }

  /**
   * Returns whether the old connection has brought more for groups than may be held. It has to be
   * read on all the same: its answer is waited for.
   */
  boolean isTooMuch() {
    return oldBytes > MAX_BYTES;
  }

  /**
   * Drops what other subscribers get too, because the new connection is given up. The rest is no
   * more than what the bus had queued.
   */
  void keepGroupsOnly() {
    groupsOnly = true;
    plain.clear();
  }

  /** Returns those for topics without groups, in the order of their arrival. */
  List<Held> plain() {
    return plain;
  }

  /**
   * Returns those for topics with groups, for each producer and topic in the order of their
   * numbers.
   */
  Iterable<List<Held>> grouped() {
    // Stable: of two duplicates, the one of the old connection may be first or last.
    grouped.values().forEach(held -> held.sort(Comparator.comparingLong(Held::sequence)));
    return grouped.values();
  }
}
