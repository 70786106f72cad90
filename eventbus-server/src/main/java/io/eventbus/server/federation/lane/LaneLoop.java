package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.RefusedMemory;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.Router;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What belongs to the lanes of one event loop. Confined to it but for {@link #execute} and what
 * never changes.
 */
public final class LaneLoop {
  private static final Logger LOG = LoggerFactory.getLogger(LaneLoop.class);

  /** How long an acknowledgement waits for more to acknowledge. */
  private static final long ACK_MILLIS = 5;

  private final int number;
  private final EventLoop eventLoop;
  private final Lanes lanes;
  private final LaneCounters counters = new LaneCounters();
  private final LaneDeadlines deadlines = new LaneDeadlines(this);
  private final InterestTurns interestTurns = new InterestTurns();
  private final LaneMemory.Share laneShare;
  private final Set<LaneReceiver> receivers = new LinkedHashSet<>();
  private final Runnable drain = this::drain;
  private List<Lane> dirty = new ArrayList<>();
  private List<Lane> draining = new ArrayList<>();
  private boolean drainScheduled;
  private boolean ending;
  private ByteBuffer scratch = ByteBuffer.allocate(256);
  private @Nullable Router router;
  private @Nullable ForwardHandler forwards;
  private @Nullable AttachedStreams others;

  LaneLoop(int number, EventLoop eventLoop, Lanes lanes) {
    this.number = number;
    this.eventLoop = eventLoop;
    this.lanes = lanes;
    this.laneShare = lanes.laneMemory().share();
  }

  /** Completes it: the router needs it, and it the router. Before any lane. */
  public void start(Router made, ForwardHandler handler) {
    router = made;
    forwards = handler;
    execute(deadlines::start);
  }

  /** Has streams of another kind looked after together with the lanes; once, on the loop. */
  public void with(AttachedStreams streams) {
    others = streams;
  }

  @Nullable AttachedStreams others() {
    return others;
  }

  public int number() {
    return number;
  }

  public EventLoop eventLoop() {
    return eventLoop;
  }

  public int count() {
    return lanes.loops().size();
  }

  public FederationConfig config() {
    return lanes.config();
  }

  public int maxFrameBytes() {
    return lanes.maxFrameBytes();
  }

  public BusMemory memory() {
    return lanes.memory();
  }

  LaneMemory laneMemory() {
    return lanes.laneMemory();
  }

  InterestTurns interestTurns() {
    return interestTurns;
  }

  LaneMemory.Share laneShare() {
    return laneShare;
  }

  /** What each lane may hold while memory for lanes is scarce. */
  long lanePart() {
    return laneMemory().part(peers().all().size() * count());
  }

  public ByteBufAllocator allocator() {
    return lanes.allocator();
  }

  public RandomGenerator random() {
    return lanes.random();
  }

  public long nanoTime() {
    return lanes.nanoTime();
  }

  public LaneCounters counters() {
    return counters;
  }

  ForwardHandler forwards() {
    ForwardHandler handler = forwards;
    if (handler == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return handler;
  }

  DeadlineScheduler otherDeadlines() {
    return lanes.deadlines();
  }

  /** The connections of lanes that other buses have opened, now. */
  List<LaneReceiver> receivers() {
    return List.copyOf(receivers);
  }

  public Peers peers() {
    return lanes.peers();
  }

  int registryNumber() {
    return lanes.peers().ownNumber();
  }

  Router router() {
    Router r = router;
    if (r == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return r;
  }

  /** Room for the head of a frame. */
  ByteBuffer scratch(int headBytes) {
    if (scratch.capacity() < headBytes) {
      scratch = ByteBuffer.allocate(2 * headBytes);
    }
    return scratch.clear();
  }

  /** Any thread; not run after the end of the bus. */
  public void execute(Runnable task) {
    try {
      eventLoop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.trace("the loop has ended", e);
    }
  }

  public void later(Runnable task) {
    var unused = schedule(task, ACK_MILLIS);
  }

  public Future<?> schedule(Runnable task, long millis) {
    return eventLoop.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  public static long mix(long producer) {
    long h = producer * 0x9E3779B97F4A7C15L;
    return h ^ (h >>> 32);
  }

  /** The lanes that a producer's frames go by. */
  public int lane(long producer) {
    return (int) ((mix(producer) >>> 1) % lanes.loops().size());
  }

  /**
   * The number of a lane, by the name of its channel.
   *
   * @throws IllegalArgumentException if another bus has given it a name that has none
   */
  static int laneOf(LinkPeer who) {
    return numberOf(Lanes.KIND, who);
  }

  /**
   * The number of a stream of a kind, by the name of its channel.
   *
   * @throws IllegalArgumentException if another bus has given it a name that has none
   */
  public static int numberOf(String kind, LinkPeer who) {
    String channel = who.channel();
    String number = channel.substring(channel.indexOf('.') + 1);
    int lane = -1;
    try {
      lane = Integer.parseInt(number);
    } catch (NumberFormatException e) {
      LOG.trace("not a number", e);
    }
    if (lane < 0 || lane >= Peer.MAX_INCOMING) {
      throw new IllegalArgumentException(
          "channel of bus "
              + who.bus()
              + ": \""
              + channel
              + "\" (expected: "
              + kind
              + ".0 to "
              + kind
              + "."
              + (Peer.MAX_INCOMING - 1)
              + ")");
    }
    return lane;
  }

  /** Opens when all that this loop has sent to some buses until now has arrived. */
  public OneShotLatch gateBehind(Collection<Peer> buses) {
    OneShotLatch gate = new OneShotLatch();
    lanes.acknowledgement().of(this, -1, buses, gate::open);
    return gate;
  }

  void open(
      InetSocketAddress address,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    open(Lanes.KIND, address, handler, failed);
  }

  /** Opens a connection of a kind, which this loop is to own. */
  // What the future of the link comes to is told to the error handler.
  @SuppressWarnings("FutureReturnValueIgnored")
  public void open(
      String kind,
      InetSocketAddress address,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    CompletableFuture<LinkPeer> opening;
    try {
      opening = lanes.opener().open(address, kind + "." + number, eventLoop, handler);
    } catch (RuntimeException | Error e) {
      opening = CompletableFuture.failedFuture(e);
    }
    opening.whenComplete(
        (who, error) -> {
          if (error != null) {
            execute(() -> failed.accept(error));
          }
        });
  }

  void drainSoon(Lane lane) {
    dirty.add(lane);
    if (!drainScheduled) {
      execute(drain);
      drainScheduled = true;
    }
  }

  private void drain() {
    drainScheduled = false;
    List<Lane> round = dirty;
    dirty = draining;
    draining = round;
    try {
      for (int i = 0; i < round.size(); i++) {
        write(round.get(i));
      }
    } finally {
      round.clear();
    }
  }

  private static void write(Lane lane) {
    try {
      lane.drain();
    } catch (RuntimeException | Error e) {
      failed("lane " + lane.number() + " to " + lane.peer() + " could not be written", e);
      lane.fail();
    }
  }

  /** One lane fails; all others go on. */
  static void failed(String what, Throwable e) {
    if (RefusedMemory.isRefused(e)) {
      // It may be many of them, for the same reason, and again and again.
      LOG.warn("{}; its connection ends: {}", what, e.toString());
    } else {
      LOG.error("{}; its connection ends", what, e);
    }
  }

  /** Runs a task on this loop when the others have run what this one had collected for them. */
  public void whenHandedOver(Runnable done) {
    router().flush();
    if (count() == 1) {
      done.run();
      return;
    }
    AtomicInteger left = new AtomicInteger(count() - 1);
    for (int i = 0; i < count(); i++) {
      if (i != number) {
        lanes
            .loop(i)
            .execute(
                () -> {
                  if (left.decrementAndGet() == 0) {
                    execute(done);
                  }
                });
      }
    }
  }

  /** Returns false when the bus ends. */
  boolean add(LaneReceiver receiver) {
    if (ending || !receivers.add(receiver)) {
      return false;
    }
    // Its first sign of life may be due before the next tick.
    lookSoon();
    return true;
  }

  void remove(LaneReceiver receiver) {
    receivers.remove(receiver);
  }

  /** There is a deadline that may come before the next tick. */
  public void lookSoon() {
    deadlines.lookSoon();
  }

  /** Ends everything; on this loop. */
  public void end(Runnable ended) {
    ending = true;
    deadlines.end();
    List<ChannelFuture> open = new ArrayList<>();
    for (Peer peer : peers().all()) {
      ChannelFuture closed = peer.lane(number).end();
      if (closed != null) {
        open.add(closed);
      }
    }
    receivers().forEach(receiver -> open.add(receiver.end()));
    AttachedStreams streams = others;
    if (streams != null) {
      open.addAll(streams.end());
    }
    AtomicInteger left = new AtomicInteger(open.size() + 1);
    Runnable one =
        () -> {
          if (left.decrementAndGet() == 0) {
            ended.run();
          }
        };
    open.forEach(closed -> closed.addListener(now -> one.run()));
    one.run();
  }
}
