package io.eventbus.server.federation;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Registry;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.federation.lane.ClockAndRandom;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** Federation of one bus with one loop, for a simulation that supplies clock and network. */
public final class DrivenFederation {
  private static final int MAX_FRAME_BYTES = 1 << 20;

  private final Federation federation;

  /** Opens the connections of lanes. */
  @FunctionalInterface
  public interface Opener {
    /** Opens a stream as {@code LinkNode.openStream} does. */
    CompletableFuture<LinkPeer> open(
        InetSocketAddress address, String channel, Function<LinkPeer, ChannelHandler> handler);
  }

  /** Creates the federation without opening anything. */
  public DrivenFederation(
      FederationConfig config,
      BusId self,
      EventLoop loop,
      SubscriptionIndex index,
      BusMemory memory,
      LongSupplier nanoTime,
      RandomGenerator random) {
    federation =
        new Federation(
            config,
            self,
            MAX_FRAME_BYTES,
            List.of(loop),
            index,
            memory,
            new ClockAndRandom(nanoTime, () -> random));
  }

  /** Returns the forwarder for the router. */
  public RemoteForwarder forwarder() {
    return federation.forwarder(0);
  }

  /** Starts to open lanes. */
  public void start(Router router, Opener opener, Registry registry) {
    federation.start(
        List.of(router),
        (address, channel, loop, handler) -> opener.open(address, channel, handler));
    federation.follow(registry);
  }

  /** Returns the handler of a lane that another bus has opened. */
  public ChannelHandler receiver(LinkPeer from) {
    return federation.lanes().receiver(from);
  }

  /** Returns whether there is a lane to a bus. */
  public boolean reaches(BusId bus) {
    Peer peer = federation.lanes().peers().find(bus);
    return peer != null && peer.upLanes() > 0;
  }

  /** Ends the federation: nothing is kept for peers any more. */
  public void end() {
    federation.lanes().loop(0).end(() -> {});
  }

  /** Returns whether publishers have to wait because the bus has just started. */
  public boolean isStarting() {
    return !federation.startLatch().isOpen();
  }

  /** Returns the traffic counters. */
  public FederationFigures figures() {
    return federation.figures();
  }
}
