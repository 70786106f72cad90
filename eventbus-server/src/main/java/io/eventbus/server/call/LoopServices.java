package io.eventbus.server.call;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The services that one loop knows: found by the bytes of a name, without an object. A service is
 * known while it is served or calls of this loop wait for it, from the first call on. Confined to
 * the loop.
 */
final class LoopServices {
  private final LoopCalls calls;
  private final Map<ByteBuffer, LoopService> byName = new HashMap<>();
  private final IdentityHashMap<Service, LoopService> byService = new IdentityHashMap<>();

  LoopServices(LoopCalls calls) {
    this.calls = calls;
  }

  /**
   * Finds a service.
   *
   * @param in position and limit are as before afterwards
   * @param waits whether to take one that nobody serves
   * @return null if nobody serves it, and the call does not wait
   */
  @Nullable LoopService find(ByteBuffer in, int start, int length, boolean waits, long nowNanos) {
    int position = in.position();
    int limit = in.limit();
    in.limit(start + length).position(start);
    try {
      LoopService known = byName.get(in);
      if (known == null) {
        byte[] name = new byte[length];
        in.get(name);
        known = learn(name, waits, nowNanos);
      }
      if (known == null || known.service.isServed() || waits) {
        return known;
      }
      // It may have been served when it was looked up.
      forgetIdle(known);
      return null;
    } finally {
      in.limit(limit).position(position);
    }
  }

  /** Returns the service of that name as it is known now. */
  LoopService current(LoopService service, long nowNanos) {
    if (!service.dropped) {
      return service;
    }
    LoopService known = byName.get(service.key);
    if (known != null) {
      return known;
    }
    return add(calls.directory().join(service.service.name()), service.key, nowNanos);
  }

  private @Nullable LoopService learn(byte[] name, boolean waits, long nowNanos) {
    String text = new String(name, StandardCharsets.UTF_8);
    ServiceDirectory directory = calls.directory();
    Service service = waits ? directory.join(text) : directory.joinServed(text);
    return service == null ? null : add(service, ByteBuffer.wrap(name), nowNanos);
  }

  private LoopService add(Service service, ByteBuffer key, long nowNanos) {
    LoopService known =
        new LoopService(service, key, calls.number(), calls.settings().retryPercent(), nowNanos);
    byName.put(key, known);
    byService.put(service, known);
    return known;
  }

  /** Returns what the loop knows of a service, or null. */
  @Nullable LoopService known(Service service) {
    return byService.get(service);
  }

  /** Forgets a service that nobody serves and that no call waits for. */
  void forgetIdle(LoopService known) {
    if (!known.dropped && known.queue.isEmpty() && !known.service.isServed()) {
      known.dropped = true;
      byName.remove(known.key);
      byService.remove(known.service);
      calls.directory().leave(known.service);
    }
  }

  int size() {
    return byName.size();
  }
}
