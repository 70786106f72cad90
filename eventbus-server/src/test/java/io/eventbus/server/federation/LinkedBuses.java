package io.eventbus.server.federation;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.federation.lane.Peer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Two buses of one loop each, with a lane in each direction. Confined to one thread. */
public final class LinkedBuses {
  /** Buses, named {@code bus-0} and {@code bus-1}. */
  public final List<TestBus> buses = List.of(new TestBus(), new TestBus());

  private final List<EmbeddedChannel[]> lanes = new ArrayList<>();

  /** Opens the lanes. */
  public void connect() {
    connect(0, 1);
    connect(1, 0);
    pump();
  }

  private void connect(int from, int to) {
    TestBus bus = buses.get(from);
    Peer peer = bus.peer("bus-" + to, to + 1);
    bus.exchange().onMembers(Set.of(peer), true);
    bus.startLatch().open();
    peer.lane(0).connect();
    TestBus.Opening opening = bus.opening();
    EmbeddedChannel there =
        new EmbeddedChannel(
            buses.get(to).receiver(new LinkPeer("", "", "bus-" + from, 7, opening.channel())));
    lanes.add(new EmbeddedChannel[] {opening.answer("bus-" + to, 7), there});
  }

  /** Lets everything under way arrive. */
  public void pump() {
    boolean moved = true;
    while (moved) {
      buses.forEach(TestBus::later);
      moved = false;
      for (EmbeddedChannel[] lane : lanes) {
        moved |= move(lane[0], lane[1]);
        moved |= move(lane[1], lane[0]);
      }
    }
  }

  private static boolean move(EmbeddedChannel from, EmbeddedChannel to) {
    from.flushOutbound();
    boolean moved = false;
    for (ByteBuf out = from.readOutbound(); out != null; out = from.readOutbound()) {
      moved = true;
      to.writeInbound(out);
    }
    return moved;
  }
}
