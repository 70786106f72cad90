package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.CandidateService;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Services that one loop knows: found by account and the bytes of a name, without an object. A
 * service is known from its first call on, while it is served or calls of this loop wait for it.
 * Confined to the loop.
 */
final class LoopServices {
  private static final ServiceMember[] NOWHERE = {};

  private final LoopCalls calls;
  // Services of the default account, and of other accounts that have services here.
  private final Map<NameKey, LoopService> byName = new HashMap<>();
  private final Map<String, Map<NameKey, LoopService>> ofAccounts = new HashMap<>();
  private final NameKey lookedUp = new NameKey();
  private final IdentityHashMap<LocalService, LoopService> byService = new IdentityHashMap<>();
  private final IdentityHashMap<LocalService, ServiceMember[]> peers = new IdentityHashMap<>();

  LoopServices(LoopCalls calls) {
    this.calls = calls;
  }

  /**
   * Finds a service; returns null if it has no members and the call does not wait.
   *
   * @param account account of the service; empty for the default account
   * @param in buffer; position and limit are ignored
   * @param local whether only members of this bus count
   */
  @Nullable LoopService find(
      String account,
      ByteBuffer in,
      int start,
      int length,
      boolean waits,
      boolean local,
      long nowNanos) {
    LoopService known = byName(account).get(lookedUp.read(in, start, length));
    if (known == null) {
      known = learn(account, lookedUp, waits, nowNanos);
    }
    if (known == null || known.service.isServed(local) || waits) {
      return known;
    }
    // The service may have been served when it was looked up.
    forgetIdle(known);
    return null;
  }

  /** Returns the service of that name as it is known now. */
  LoopService current(LoopService service, long nowNanos) {
    if (!service.dropped) {
      return service;
    }
    String account = service.service.account();
    LoopService known = byName(account).get(service.key);
    if (known != null) {
      return known;
    }
    return add(calls.directory().join(account, service.service.name()), service.key, nowNanos);
  }

  private Map<NameKey, LoopService> byName(String account) {
    return account.isEmpty() ? byName : ofAccounts.getOrDefault(account, Map.of());
  }

  private @Nullable LoopService learn(String account, NameKey name, boolean waits, long nowNanos) {
    String text = name.toString();
    ServiceDirectory directory = calls.directory();
    LocalService service =
        waits ? directory.join(account, text) : directory.joinServed(account, text);
    return service == null ? null : add(service, name.copy(), nowNanos);
  }

  private LoopService add(LocalService service, NameKey key, long nowNanos) {
    LoopService known =
        new LoopService(
            this,
            service,
            key,
            calls.number(),
            calls.settings().retryPercent(),
            peers.getOrDefault(service, NOWHERE),
            nowNanos);
    String account = service.account();
    Map<NameKey, LoopService> names =
        account.isEmpty() ? byName : ofAccounts.computeIfAbsent(account, a -> new HashMap<>());
    names.put(key, known);
    byService.put(service, known);
    return known;
  }

  /** Returns the loop's view of a service, or null. */
  @Nullable LoopService known(CandidateService service) {
    return byService.get(service);
  }

  /** Adds or removes a peer that serves a service by a stream of this loop. */
  void setPeer(ServiceMember bus, boolean serves) {
    LocalService service = bus.service();
    List<ServiceMember> all = new ArrayList<>(List.of(peers.getOrDefault(service, NOWHERE)));
    all.remove(bus);
    if (serves) {
      all.add(bus);
    }
    ServiceMember[] now = all.toArray(NOWHERE);
    if (all.isEmpty()) {
      peers.remove(service);
    } else {
      peers.put(service, now);
    }
    LoopService known = byService.get(service);
    if (known != null) {
      known.peers = now;
    }
  }

  /** Returns the peers that serve a service by streams of this loop. */
  ServiceMember[] peers(LocalService service) {
    return peers.getOrDefault(service, NOWHERE);
  }

  /** Forgets a service without members and waiting calls. */
  void forgetIdle(LoopService known) {
    if (!known.dropped
        && known.queue().isEmpty()
        && known.localQueue().isEmpty()
        && !known.service.isServed()) {
      known.dropped = true;
      String account = known.service.account();
      Map<NameKey, LoopService> names = byName(account);
      names.remove(known.key);
      if (names.isEmpty()) {
        ofAccounts.remove(account);
      }
      byService.remove(known.service);
      calls.directory().leave(known.service);
    }
  }

  int size() {
    return byService.size();
  }
}
