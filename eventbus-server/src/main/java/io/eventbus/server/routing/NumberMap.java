package io.eventbus.server.routing;

import io.netty.util.collection.LongObjectHashMap;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Values by numbers that clients or other buses choose, without an object for each number. The
 * numbers are mixed with a secret: in a table with open addressing all that share a place are
 * walked over. Confined to one thread.
 */
public final class NumberMap<V> {
  private static final int CAPACITY = 4;

  private final LongObjectHashMap<V> values = new LongObjectHashMap<>(CAPACITY);

  /** Makes an empty map. */
  public NumberMap() {}

  /**
   * Finds a value.
   *
   * @return null if there is none
   */
  public @Nullable V get(long number) {
    return values.get(SecretHash.of(number));
  }

  /**
   * Says whether there is a value.
   *
   * @return true if there is
   */
  public boolean containsKey(long number) {
    return values.containsKey(SecretHash.of(number));
  }

  /**
   * Puts a value in.
   *
   * @return what had that number before, or null
   */
  public @Nullable V put(long number, V value) {
    return values.put(SecretHash.of(number), value);
  }

  /**
   * Takes a value out.
   *
   * @return what was taken, or null
   */
  public @Nullable V remove(long number) {
    return values.remove(SecretHash.of(number));
  }

  /** Returns all values. */
  public Collection<V> values() {
    return values.values();
  }

  /**
   * Counts the values.
   *
   * @return 0 or more
   */
  public int size() {
    return values.size();
  }

  /**
   * Says whether there is no value.
   *
   * @return true if there is none
   */
  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** Takes all values out. */
  public void clear() {
    values.clear();
  }
}
