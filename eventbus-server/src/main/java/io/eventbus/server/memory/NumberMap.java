package io.eventbus.server.memory;

import io.netty.util.collection.LongObjectHashMap;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Values by numbers that clients or peers choose, without an object for each number. The numbers
 * are mixed with a secret: in a table with open addressing all that share a place are walked over.
 * Confined to one thread.
 */
public final class NumberMap<V> {
  private static final int CAPACITY = 4;

  private final LongObjectHashMap<V> values = new LongObjectHashMap<>(CAPACITY);

  /** Creates an empty map. */
  public NumberMap() {}

  /** Returns a value, or null if there is none. */
  public @Nullable V get(long number) {
    return values.get(SecretHash.of(number));
  }

  /** Returns whether there is a value. */
  public boolean containsKey(long number) {
    return values.containsKey(SecretHash.of(number));
  }

  /** Puts a value in; returns the former value of that number, or null. */
  public @Nullable V put(long number, V value) {
    return values.put(SecretHash.of(number), value);
  }

  /** Removes a value; returns it, or null. */
  public @Nullable V remove(long number) {
    return values.remove(SecretHash.of(number));
  }

  /** Returns all values. */
  public Collection<V> values() {
    return values.values();
  }

  /** Returns the number of values. */
  public int size() {
    return values.size();
  }

  /** Returns whether there is no value. */
  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** Removes all values. */
  public void clear() {
    values.clear();
  }
}
