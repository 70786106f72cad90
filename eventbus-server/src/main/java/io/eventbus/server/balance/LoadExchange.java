package io.eventbus.server.balance;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import io.eventbus.server.balance.decision.MoveTarget;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Load of the peers: their addresses by the registry, and the load that they report. Of two buses
 * the one whose name comes first asks, and both know. Any thread.
 */
final class LoadExchange {
  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(1);

  /** Maximum age of a report: an older one does not count, because the bus may be gone. */
  private static final long FRESH_NANOS = Duration.ofSeconds(3).toNanos();

  private final BusId self;
  private final Registry registry;
  private final @Nullable PeerQueries calls;
  private final LongSupplier nanoTime;
  private final Map<String, Heard> heard = new ConcurrentHashMap<>();
  private final Set<String> asking = ConcurrentHashMap.newKeySet();

  private record Heard(BalanceMessages.Load load, long nanos) {
    boolean isFresh(long now) {
      return now - nanos < FRESH_NANOS;
    }
  }

  LoadExchange(String self, Registry registry, @Nullable PeerQueries calls, LongSupplier nanoTime) {
    this.self = new BusId(self);
    this.registry = registry;
    this.calls = calls;
    this.nanoTime = nanoTime;
  }

  /** Sends the load of this bus to the peers, and receives theirs. */
  void exchange(BalanceMessages.Load own) {
    PeerQueries node = calls;
    if (node == null) {
      return;
    }
    byte[] said = own.encode();
    Set<String> known = ConcurrentHashMap.newKeySet();
    for (BusInfo bus : registry.snapshot().buses()) {
      String name = bus.id().value();
      known.add(name);
      InetSocketAddress address = address(bus);
      if (self.compareTo(bus.id()) < 0
          && (bus.state() == BusState.UP || bus.state() == BusState.DRAINING)
          && address != null
          && asking.add(name)) {
        var unused =
            node.ask(address, BalanceMessages.LOAD, said, REPORT_TIMEOUT)
                .whenComplete(
                    (answer, error) -> {
                      asking.remove(name);
                      if (answer != null) {
                        hear(name, BalanceMessages.Load.decode(answer));
                      }
                    });
      }
    }
    heard.keySet().retainAll(known);
  }

  /** Receives the load of a peer. */
  void onLoad(LinkPeer peer, byte[] request) {
    BalanceMessages.Load load = BalanceMessages.Load.decode(request);
    if (registry.snapshot().bus(new BusId(peer.bus())) != null) {
      hear(peer.bus(), load);
    }
  }

  private void hear(String bus, BalanceMessages.Load load) {
    heard.put(bus, new Heard(load, nanoTime.getAsLong()));
  }

  /** Returns whether there is another bus that is UP, whether it answers or not. */
  boolean areThere() {
    return calls != null
        && registry.snapshot().buses().stream()
            .anyMatch(bus -> bus.state() == BusState.UP && !bus.id().equals(self));
  }

  /**
   * Returns the buses that clients may move to: UP, with a fresh load, neither draining nor
   * overloaded.
   */
  List<MoveTarget> targets(long nowNanos) {
    List<MoveTarget> found = new ArrayList<>();
    for (BusInfo bus : registry.snapshot().buses()) {
      Heard said = heard.get(bus.id().value());
      if (bus.state() == BusState.UP
          && !bus.id().equals(self)
          && said != null
          && said.isFresh(nowNanos)
          && !said.load.draining()
          && !said.load.overloaded()) {
        found.add(new MoveTarget(bus.id().value(), bus.description().zone(), said.load.load()));
      }
    }
    return found;
  }

  /** Returns the address of a bus's links; null if it is not known. */
  @Nullable InetSocketAddress address(String bus) {
    BusInfo known = registry.snapshot().bus(new BusId(bus));
    return known == null ? null : address(known);
  }

  private static @Nullable InetSocketAddress address(BusInfo bus) {
    Endpoint endpoint = bus.addresses().peers();
    return endpoint == null
        ? null
        : InetSocketAddress.createUnresolved(endpoint.host(), endpoint.port());
  }

  /** Returns the URLs of this bus for clients. */
  List<String> ownUrls() {
    BusInfo known = registry.snapshot().bus(self);
    return known == null ? List.of() : known.addresses().clients();
  }

  /** Returns all buses, in the order of their names. */
  List<BusLoad> all(BalanceMessages.Load own, long nowNanos) {
    List<BusLoad> found = new ArrayList<>();
    for (BusInfo bus : registry.snapshot().buses()) {
      String name = bus.id().value();
      Heard said = bus.id().equals(self) ? new Heard(own, nowNanos) : heard.get(name);
      String zone = bus.description().zone();
      String state = bus.state().name();
      found.add(
          said == null
              ? new BusLoad(name, zone, state, -1, -1, false, false, -1)
              : new BusLoad(
                  name,
                  zone,
                  state,
                  said.load.load(),
                  said.load.clients(),
                  said.load.overloaded(),
                  said.load.draining(),
                  Math.max(0, nowNanos - said.nanos) / 1_000_000));
    }
    return found;
  }
}
