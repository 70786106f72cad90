package io.eventbus.server.federation.call;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.federation.interest.BusServices;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Lanes;
import io.eventbus.server.federation.lane.Peer;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * Services of peers, and the streams by which they are called. Confined to the first loop except
 * for methods marked otherwise.
 */
public final class PeerServices implements BusServices {
  /** Kind of stream, see {@code LinkNode.acceptStreams}. */
  public static final String KIND = "call";

  private final Lanes lanes;
  private final Map<ServiceKey, Set<BusId>> byKey = new ConcurrentHashMap<>();
  private final Set<Peer> draining = new HashSet<>();
  private volatile List<LoopStreams> loops = List.of();

  /** Prepares the streams without opening any. */
  public PeerServices(Lanes lanes) {
    this.lanes = lanes;
  }

  /** Starts to make and accept calls; once, before any lane. */
  public void start(List<LoopCalls> calls) {
    List<LoopStreams> created = new ArrayList<>();
    for (LaneLoop loop : lanes.loops()) {
      LoopStreams streams = new LoopStreams(loop, calls.get(loop.number()));
      created.add(streams);
      loop.execute(() -> loop.with(streams));
    }
    loops = List.copyOf(created);
  }

  /** Returns the loop that owns a stream that a peer has opened; any thread. */
  public EventLoop loop(LinkPeer peer) {
    return lanes.loopFor(KIND, peer).eventLoop();
  }

  /** Returns the handler of a stream that a peer has opened; on the loop that owns it. */
  public ChannelHandler receiver(LinkPeer peer) {
    return loops.get(lanes.loopFor(KIND, peer).number()).receiver(peer);
  }

  @Override
  public void serves(Peer bus, String account, String name, boolean serves) {
    ServiceKey service = new ServiceKey(account, name);
    byKey.compute(
        service,
        (key, before) -> {
          Set<BusId> now = before == null ? new HashSet<>() : new HashSet<>(before);
          if (serves) {
            now.add(bus.id());
          } else {
            now.remove(bus.id());
          }
          return now.isEmpty() ? null : Set.copyOf(now);
        });
    boolean drains = draining.contains(bus);
    // First on this loop: from then on the service is served, and calls of other loops wait for
    // theirs.
    everywhere(streams -> streams.serves(bus, service, serves, drains));
  }

  @Override
  public void abandoned(Peer bus) {
    everywhere(streams -> streams.abandoned(bus));
  }

  /** Sets whether a peer drains its clients. */
  public void draining(Peer bus, boolean drains) {
    if (drains ? draining.add(bus) : draining.remove(bus)) {
      everywhere(streams -> streams.draining(bus, drains));
    }
  }

  /** Forgets a peer for good. */
  public void forget(Peer bus) {
    draining.remove(bus);
    everywhere(streams -> streams.forget(bus));
  }

  private void everywhere(Consumer<LoopStreams> task) {
    for (LoopStreams streams : loops) {
      if (streams.lanes().eventLoop().inEventLoop()) {
        task.accept(streams);
      } else {
        streams.lanes().execute(() -> task.accept(streams));
      }
    }
  }

  /** Returns the peers that serve each service; any thread. */
  public Map<ServiceKey, Set<BusId>> byKey() {
    return Map.copyOf(byKey);
  }

  /** Returns the counters of the streams; any thread. */
  public CallStreamFigures figures() {
    return new CallStreamFigures(
        sum(LoopStreams::up),
        sum(LoopStreams::bytes),
        sum(streams -> streams.counters().callsOut.get()),
        sum(streams -> streams.counters().callsBack.get()),
        sum(streams -> streams.counters().connects.get()),
        sum(streams -> streams.counters().resent.get()));
  }

  private long sum(ToLongFunction<LoopStreams> figure) {
    return loops.stream().mapToLong(figure).sum();
  }
}
