package io.eventbus.server.federation.call;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.federation.lane.AttachedStreams;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.lane.StreamEndpoint;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Streams of calls of one event loop, opened to peers and accepted from them. Confined to the loop
 * except for methods marked otherwise.
 */
final class LoopStreams implements AttachedStreams {
  private record Incoming(String bus, int number) {}

  private final LaneLoop lanes;
  private final LoopCalls calls;
  private final CallStreamCounters counters = new CallStreamCounters();
  private final DeliveryAllocator bodies;
  private final Map<Peer, PeerCallStream> buses = new LinkedHashMap<>();
  private final Map<Incoming, InboundCallStream> inboundStreams = new HashMap<>();
  private final Set<CallConnection> connections = new LinkedHashSet<>();
  private boolean ending;
  private volatile int up;
  private volatile long bytes;

  LoopStreams(LaneLoop lanes, LoopCalls calls) {
    this.lanes = lanes;
    this.calls = calls;
    this.bodies = new DeliveryAllocator(lanes.allocator(), lanes.memory());
  }

  LaneLoop lanes() {
    return lanes;
  }

  LoopCalls calls() {
    return calls;
  }

  CallStreamCounters counters() {
    return counters;
  }

  int number() {
    return lanes.number();
  }

  long now() {
    return lanes.nanoTime();
  }

  /** Copies a body out of the read buffer; the caller has the only reference. */
  Delivery body(ByteBuffer in, int from, int length) {
    Delivery body = bodies.allocate(DeliveryKind.CALL, length, 0, 0);
    body.append(in, from, length);
    body.finish();
    return body;
  }

  /** Adds a connection; returns false if the bus ends. */
  boolean add(CallConnection connection) {
    if (ending || !connections.add(connection)) {
      return false;
    }
    // Its first keepalive may be due before the next tick.
    lanes.checkSoon();
    return true;
  }

  void remove(CallConnection connection) {
    connections.remove(connection);
  }

  /** Adds or removes a service of a peer. */
  void serves(Peer bus, ServiceKey service, boolean serves, boolean drains) {
    if (serves) {
      PeerCallStream peerStream = buses.get(bus);
      if (peerStream == null) {
        peerStream = new PeerCallStream(this, bus);
        peerStream.draining(drains);
        buses.put(bus, peerStream);
      }
      peerStream.serves(service);
    } else {
      PeerCallStream peerStream = buses.get(bus);
      if (peerStream != null) {
        peerStream.servesNoMore(service);
      }
    }
  }

  void draining(Peer bus, boolean drains) {
    PeerCallStream peerStream = buses.get(bus);
    if (peerStream != null) {
      peerStream.draining(drains);
    }
  }

  void abandoned(Peer bus) {
    PeerCallStream peerStream = buses.get(bus);
    if (peerStream != null) {
      peerStream.abandon();
    }
  }

  void forget(Peer bus) {
    PeerCallStream peerStream = buses.remove(bus);
    if (peerStream != null) {
      peerStream.close();
    }
  }

  /** Returns the handler of a stream that a peer has opened. */
  CallConnection receiver(LinkPeer linkPeer) {
    return new CallConnection(this, linkPeer, new Accepted(linkPeer));
  }

  /** Accepted connection whose stream is unknown until its first frame. */
  private final class Accepted implements CallConnection.End {
    private final LinkPeer linkPeer;
    private @Nullable InboundCallStream inbound;

    Accepted(LinkPeer linkPeer) {
      this.linkPeer = linkPeer;
    }

    @Override
    public void onOpen(CallConnection opened) {}

    @Override
    public void onFrame(CallConnection from, ByteBuffer in, int typeCode, int begin, int end) {
      InboundCallStream known = inbound;
      if (known != null) {
        if (known.isBy(from)) {
          known.onFrame(in, typeCode, begin, end);
        }
        return;
      }
      if (typeCode != PeerFrames.CALL_HELLO) {
        throw new CorruptedFrameException("typeCode: " + typeCode + " (expected: CallHello)");
      }
      if (lanes.peers().of(linkPeer) == null) {
        throw new CorruptedFrameException("a stream to itself, or too many buses");
      }
      int number = LaneLoop.numberOf(PeerServices.KIND, linkPeer);
      InboundCallStream entered =
          inboundStreams.computeIfAbsent(
              new Incoming(linkPeer.bus(), number),
              i -> new InboundCallStream(LoopStreams.this, i.bus(), number));
      inbound = entered;
      entered.onHello(from, BusCallFrames.hello(in, begin, end));
    }

    @Override
    public void onReadEnd(CallConnection from) {
      InboundCallStream known = inbound;
      if (known != null && known.isBy(from)) {
        known.onReadEnd();
      }
    }

    @Override
    public void onWritable() {
      InboundCallStream known = inbound;
      if (known != null) {
        known.onWritable();
      }
    }

    @Override
    public void onGoodbye(CallConnection from) {
      InboundCallStream known = inbound;
      if (known != null && known.isBy(from)) {
        known.drop();
      }
    }

    @Override
    public void onClosed(CallConnection closed) {
      InboundCallStream known = inbound;
      if (known != null) {
        known.onClosed(closed);
      }
    }
  }

  @Override
  public void onTick(long now) {
    int nowUp = 0;
    long held = 0;
    for (PeerCallStream bus : new ArrayList<>(buses.values())) {
      bus.onTick(now);
      nowUp += bus.isUp() ? 1 : 0;
      held += bus.bytes();
    }
    for (InboundCallStream inbound : new ArrayList<>(inboundStreams.values())) {
      inbound.onTick(now);
      held += inbound.bytes();
    }
    inboundStreams.values().removeIf(InboundCallStream::isIdle);
    for (CallConnection connection : new ArrayList<>(connections)) {
      connection.onTick(now);
    }
    bodies.trim();
    up = nowUp;
    bytes = held;
  }

  @Override
  public boolean areDueSoon() {
    return buses.values().stream().anyMatch(PeerCallStream::isDueSoon)
        || inboundStreams.values().stream().anyMatch(InboundCallStream::isWaiting);
  }

  @Override
  public List<? extends StreamEndpoint> ends() {
    return List.copyOf(connections);
  }

  @Override
  public List<ChannelFuture> end() {
    ending = true;
    List<ChannelFuture> closed = new ArrayList<>();
    for (CallConnection connection : List.copyOf(connections)) {
      closed.add(connection.end());
    }
    buses.values().forEach(PeerCallStream::end);
    inboundStreams.values().forEach(InboundCallStream::end);
    bodies.close();
    return closed;
  }

  /** Returns the number of connected streams to peers, a moment ago; any thread. */
  int up() {
    return up;
  }

  /** Returns the bytes that are kept for peers, a moment ago; any thread. */
  long bytes() {
    return bytes;
  }
}
