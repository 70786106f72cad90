package io.eventbus.server.federation.call;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.federation.lane.AttachedStreams;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

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
  StreamConnection receiver(LinkPeer linkPeer) {
    return new StreamConnection(lanes, linkPeer, lanes.maxFrameBytes(), new Accepted(linkPeer));
  }

  /** Accepted connection whose stream is unknown until its first frame. */
  private final class Accepted implements StreamConnection.End {
    private final LinkPeer linkPeer;

    Accepted(LinkPeer linkPeer) {
      this.linkPeer = linkPeer;
    }

    @Override
    public boolean onFrame(StreamConnection from, int typeCode, ByteBuffer in, int begin, int end) {
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
      from.end(entered);
      entered.onHello(from, BusCallFrames.hello(in, begin, end));
      return true;
    }

    @Override
    public String toString() {
      return "The stream of calls " + linkPeer.channel() + " of bus " + linkPeer.bus();
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
  public void end() {
    buses.values().forEach(PeerCallStream::end);
    inboundStreams.values().forEach(InboundCallStream::end);
    bodies.close();
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
