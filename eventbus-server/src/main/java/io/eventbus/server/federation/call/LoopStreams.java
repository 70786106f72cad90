package io.eventbus.server.federation.call;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.BusCallFrames;
import io.eventbus.protocol.PeerFrames;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.federation.lane.AttachedStreams;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.lane.StreamEndpoint;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.DeliveryAllocator;
import io.eventbus.server.routing.DeliveryKind;
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
 * The streams of calls of one event loop: those that it has opened to other buses, and those that
 * others have opened to it. Confined to the loop but for what says so.
 */
final class LoopStreams implements AttachedStreams {
  private record Incoming(String bus, int number) {}

  private final LaneLoop lanes;
  private final LoopCalls calls;
  private final CallStreamCounters counters = new CallStreamCounters();
  private final DeliveryAllocator bodies;
  private final Map<Peer, PeerCallStream> buses = new LinkedHashMap<>();
  private final Map<Incoming, InboundCallStream> intakes = new HashMap<>();
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

  /** Copies a body out of what was read; the caller has the only reference. */
  Delivery body(ByteBuffer in, int from, int length) {
    Delivery body = bodies.allocate(DeliveryKind.CALL, length, 0, 0);
    body.append(in, from, length);
    body.finish();
    return body;
  }

  /** Returns false when the bus ends. */
  boolean add(CallConnection connection) {
    if (ending || !connections.add(connection)) {
      return false;
    }
    // Its first sign of life may be due before the next tick.
    lanes.lookSoon();
    return true;
  }

  void remove(CallConnection connection) {
    connections.remove(connection);
  }

  /** Another bus serves a service, or does not any more. */
  void serves(Peer bus, ServiceKey service, boolean serves, boolean drains) {
    if (serves) {
      PeerCallStream far = buses.get(bus);
      if (far == null) {
        far = new PeerCallStream(this, bus);
        far.draining(drains);
        buses.put(bus, far);
      }
      far.serves(service);
    } else {
      PeerCallStream far = buses.get(bus);
      if (far != null) {
        far.servesNoMore(service);
      }
    }
  }

  void draining(Peer bus, boolean drains) {
    PeerCallStream far = buses.get(bus);
    if (far != null) {
      far.draining(drains);
    }
  }

  void abandoned(Peer bus) {
    PeerCallStream far = buses.get(bus);
    if (far != null) {
      far.abandon();
    }
  }

  void forget(Peer bus) {
    PeerCallStream far = buses.remove(bus);
    if (far != null) {
      far.close();
    }
  }

  /** What handles a stream that another bus has opened. */
  CallConnection receiver(LinkPeer who) {
    return new CallConnection(this, who, new Accepted(who));
  }

  /** A connection that another bus has opened: it says first which of its streams it is. */
  private final class Accepted implements CallConnection.End {
    private final LinkPeer who;
    private @Nullable InboundCallStream intake;

    Accepted(LinkPeer who) {
      this.who = who;
    }

    @Override
    public void onOpen(CallConnection opened) {}

    @Override
    public void onFrame(CallConnection from, ByteBuffer in, int typeCode, int begin, int end) {
      InboundCallStream known = intake;
      if (known != null) {
        if (known.isBy(from)) {
          known.onFrame(in, typeCode, begin, end);
        }
        return;
      }
      if (typeCode != PeerFrames.CALL_HELLO) {
        throw new CorruptedFrameException("typeCode: " + typeCode + " (expected: CallHello)");
      }
      if (lanes.peers().of(who) == null) {
        throw new CorruptedFrameException("a stream to itself, or too many buses");
      }
      int number = LaneLoop.numberOf(PeerServices.KIND, who);
      InboundCallStream entered =
          intakes.computeIfAbsent(
              new Incoming(who.bus(), number),
              i -> new InboundCallStream(LoopStreams.this, i.bus(), number));
      intake = entered;
      entered.onHello(from, BusCallFrames.hello(in, begin, end));
    }

    @Override
    public void onReadEnd(CallConnection from) {
      InboundCallStream known = intake;
      if (known != null && known.isBy(from)) {
        known.onReadEnd();
      }
    }

    @Override
    public void onWritable() {
      InboundCallStream known = intake;
      if (known != null) {
        known.onWritable();
      }
    }

    @Override
    public void onGoodbye(CallConnection from) {
      InboundCallStream known = intake;
      if (known != null && known.isBy(from)) {
        known.drop();
      }
    }

    @Override
    public void onClosed(CallConnection closed) {
      InboundCallStream known = intake;
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
    for (InboundCallStream intake : new ArrayList<>(intakes.values())) {
      intake.onTick(now);
      held += intake.bytes();
    }
    intakes.values().removeIf(InboundCallStream::isIdle);
    for (CallConnection connection : new ArrayList<>(connections)) {
      connection.onTick(now);
    }
    bodies.trim();
    up = nowUp;
    bytes = held;
  }

  @Override
  public boolean areNear() {
    return buses.values().stream().anyMatch(PeerCallStream::isNear)
        || intakes.values().stream().anyMatch(InboundCallStream::isWaiting);
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
    intakes.values().forEach(InboundCallStream::end);
    bodies.close();
    return closed;
  }

  /** Streams to other buses that are up, a moment ago; any thread. */
  int up() {
    return up;
  }

  /** Bytes that are kept for other buses, a moment ago; any thread. */
  long bytes() {
    return bytes;
  }
}
