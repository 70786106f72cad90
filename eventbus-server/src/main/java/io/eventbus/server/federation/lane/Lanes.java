package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * All lanes of this bus, to and from peers: their loops, the peers, and their shared state. Any
 * thread.
 */
public final class Lanes {
  /** Kind of stream, see {@link LinkNode#acceptStreams}. */
  public static final String KIND = "lane";

  /** Opens the connections of lanes, as {@link LinkNode#openStream} does. */
  @FunctionalInterface
  public interface Opener {
    /** Opens a stream as {@link LinkNode#openStream} does. */
    CompletableFuture<LinkPeer> open(
        InetSocketAddress address,
        String channel,
        EventLoop loop,
        Function<LinkPeer, ChannelHandler> handler);
  }

  private final FederationConfig config;
  private final ClockAndRandom clock;
  private final int maxFrameBytes;
  private final BusMemory memory;
  private final LaneMemory laneMemory;
  private final List<LaneLoop> loops = new ArrayList<>();
  private final Peers peers;
  private final Acknowledgement acknowledgement;
  private @Nullable PeerListener listener;
  private @Nullable DeadlineScheduler deadlines;
  private volatile @Nullable Opener opener;

  /**
   * Prepares the lanes without opening any.
   *
   * @param maxFrameBytes maximum bytes of a peer's frame
   */
  public Lanes(
      FederationConfig config,
      BusId self,
      int maxFrameBytes,
      List<EventLoop> eventLoops,
      BusMemory memory,
      ClockAndRandom clock,
      Runnable renumbered) {
    this.config = config;
    this.clock = clock;
    this.maxFrameBytes = maxFrameBytes;
    this.memory = memory;
    this.laneMemory = new LaneMemory(memory.limit() / 100 * config.memoryPercent());
    for (int i = 0; i < eventLoops.size(); i++) {
      loops.add(new LaneLoop(i, eventLoops.get(i), this));
    }
    peers = new Peers(self, this, renumbered);
    acknowledgement = new Acknowledgement(loops, peers);
  }

  /** Sets the listener and the deadlines, before any lane. */
  public void listen(PeerListener told, DeadlineScheduler others) {
    listener = told;
    deadlines = others;
  }

  /** Allows lanes to be opened. After the start of each loop. */
  public void open(Opener streams) {
    opener = streams;
  }

  /** Returns whether lanes can be opened. */
  public boolean isOpen() {
    return opener != null;
  }

  /** Returns the handler of a lane that a peer has opened; on the loop that owns it. */
  public ChannelHandler receiver(LinkPeer peer) {
    LaneLoop loop = loopFor(peer);
    return new LaneReceiver(loop, peer, loop.forwards()).connection();
  }

  /** Returns the loop that owns a lane that a peer has opened. */
  public LaneLoop loopFor(LinkPeer peer) {
    return loopFor(KIND, peer);
  }

  /** Returns the loop that owns a stream of a kind that a peer has opened. */
  public LaneLoop loopFor(String kind, LinkPeer peer) {
    return loops.get(Math.floorMod(LaneLoop.numberOf(kind, peer), loops.size()));
  }

  /** Returns all loops, in the order of their numbers. */
  public List<LaneLoop> loops() {
    return loops;
  }

  /** Returns the loop with a number. */
  public LaneLoop loop(int number) {
    return loops.get(number);
  }

  public Peers peers() {
    return peers;
  }

  /** Returns the acknowledgement of sent frames. */
  public Acknowledgement acknowledgement() {
    return acknowledgement;
  }

  public FederationConfig config() {
    return config;
  }

  /** Returns the nanoseconds of a clock such as {@link System#nanoTime}. */
  public long nanoTime() {
    return clock.nanoTime().getAsLong();
  }

  RandomGenerator random() {
    return clock.random().get();
  }

  int maxFrameBytes() {
    return maxFrameBytes;
  }

  public BusMemory memory() {
    return memory;
  }

  LaneMemory laneMemory() {
    return laneMemory;
  }

  ByteBufAllocator allocator() {
    return PooledByteBufAllocator.DEFAULT;
  }

  PeerListener listener() {
    PeerListener told = listener;
    if (told == null) {
      throw new IllegalStateException("the lanes have no listener");
    }
    return told;
  }

  DeadlineScheduler deadlines() {
    DeadlineScheduler others = deadlines;
    if (others == null) {
      throw new IllegalStateException("the lanes have no listener");
    }
    return others;
  }

  Opener opener() {
    Opener streams = opener;
    if (streams == null) {
      throw new IllegalStateException("the lanes have not been opened");
    }
    return streams;
  }

  /**
   * Gives up the unreachable peer with the most kept bytes, because memory is short. Returns false
   * if there is none.
   */
  public boolean giveUpLargestBacklog() {
    Peer fullest = null;
    long bytes = 0;
    for (Peer peer : peers.all()) {
      long queued = peer.queuedBytes();
      if (peer.upLanes() == 0 && queued > bytes) {
        fullest = peer;
        bytes = queued;
      }
    }
    if (fullest == null) {
      return false;
    }
    fullest.giveUp(
        bytes + " bytes wait for it, it cannot be reached, and the bus is out of memory");
    return true;
  }
}
