package io.eventbus.server.security.roles;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Values up to a total weight; the least recently used are removed first. */
final class BoundedCache<K, V> {
  private final int max;
  private final Map<K, Weighed<V>> entries = new LinkedHashMap<>(16, 0.75f, true);
  private int total;

  private record Weighed<V>(V value, int weight) {}

  BoundedCache(int max) {
    this.max = max;
  }

  /** Returns what is remembered, or makes it; then all others wait, so that it is made once. */
  synchronized V get(K key, Function<K, V> make, ToIntFunction<V> weigh) {
    @Nullable Weighed<V> known = entries.get(key);
    if (known != null) {
      return known.value();
    }
    V made = make.apply(key);
    int weight = weigh.applyAsInt(made);
    entries.put(key, new Weighed<>(made, weight));
    total += weight;
    Iterator<Weighed<V>> eldest = entries.values().iterator();
    while (total > max && entries.size() > 1) {
      total -= eldest.next().weight();
      eldest.remove();
    }
    return made;
  }

  synchronized int size() {
    return entries.size();
  }
}
