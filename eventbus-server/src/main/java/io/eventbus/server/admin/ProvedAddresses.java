package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Addresses that have lately shown credentials that open the administration port. Places are kept
 * for them, so that nobody else can take all. Any thread.
 *
 * <p>At most {@value #MAX_ADDRESSES} are remembered; the least recently used address is forgotten
 * first.
 */
final class ProvedAddresses {
  static final int MAX_ADDRESSES = 1_024;

  /** Life of an entry: from one working day to the next. */
  static final Duration LIFE = Duration.ofHours(24);

  private final LongSupplier nanoTime;
  // By last use; guarded by itself.
  private final Map<ClientAddress, Long> provedAt = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Creates an empty memory.
   *
   * @param nanoTime as {@link System#nanoTime}
   */
  ProvedAddresses(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void add(ClientAddress address) {
    synchronized (provedAt) {
      provedAt.put(address, nanoTime.getAsLong());
      if (provedAt.size() > MAX_ADDRESSES) {
        provedAt.remove(provedAt.keySet().iterator().next());
      }
    }
  }

  boolean contains(ClientAddress address) {
    synchronized (provedAt) {
      Long at = provedAt.get(address);
      if (at != null && nanoTime.getAsLong() - at >= LIFE.toNanos()) {
        provedAt.remove(address);
        return false;
      }
      return at != null;
    }
  }
}
