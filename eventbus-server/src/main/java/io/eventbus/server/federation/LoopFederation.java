package io.eventbus.server.federation;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.RefusedMemory;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.RemoteBus;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.RemotePlan;
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
import java.util.Map;
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
final class LoopFederation implements RemoteForwarder {
  private static final Logger LOG = LoggerFactory.getLogger(LoopFederation.class);

  /** How often deadlines are looked at while there are any but those of heartbeats. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** How often they are looked at in any case. */
  private static final long LONGEST_TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long an acknowledgement waits for more to acknowledge. */
  private static final long ACK_MILLIS = 5;

  private final int number;
  private final EventLoop eventLoop;
  private final Federation federation;
  private final LaneCounters counters = new LaneCounters();
  private final ForwardIntake intake;
  private final LaneMemory.Share laneShare;
  private final Set<LaneReceiver> receivers = new LinkedHashSet<>();
  private final Runnable drain = this::drain;
  private List<Lane> dirty = new ArrayList<>();
  private List<Lane> draining = new ArrayList<>();
  private boolean drainScheduled;
  private boolean ending;
  private ByteBuffer scratch = ByteBuffer.allocate(256);
  private @Nullable Router router;
  private @Nullable Future<?> ticker;
  private long nextTickAt;

  LoopFederation(int number, EventLoop eventLoop, Federation federation) {
    this.number = number;
    this.eventLoop = eventLoop;
    this.federation = federation;
    this.intake = new ForwardIntake(this);
    this.laneShare = federation.laneMemory().share();
  }

  /** Completes it: the router needs it, and it the router. Before any lane. */
  void start(Router made) {
    router = made;
    intake.tellHolds(made::chargeHold);
    execute(() -> tickIn(TICK_NANOS));
  }

  int number() {
    return number;
  }

  EventLoop eventLoop() {
    return eventLoop;
  }

  int count() {
    return federation.loopCount();
  }

  FederationConfig config() {
    return federation.config();
  }

  int maxFrameBytes() {
    return federation.maxFrameBytes();
  }

  BusMemory memory() {
    return federation.memory();
  }

  LaneMemory laneMemory() {
    return federation.laneMemory();
  }

  LaneMemory.Share laneShare() {
    return laneShare;
  }

  /** What each lane may hold while memory for lanes is scarce. */
  long lanePart() {
    return laneMemory().part(peers().all().size() * count());
  }

  ByteBufAllocator allocator() {
    return federation.allocator();
  }

  RandomGenerator random() {
    return federation.random();
  }

  long nanoTime() {
    return federation.nanoTime();
  }

  LaneCounters counters() {
    return counters;
  }

  ForwardIntake intake() {
    return intake;
  }

  Peers peers() {
    return federation.peers();
  }

  int registryNumber() {
    return federation.peers().ownNumber();
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
    if (scratch.capacity() < headBytes + 32) {
      scratch = ByteBuffer.allocate(2 * headBytes + 32);
    }
    return scratch.clear();
  }

  /** Any thread; not run after the end of the bus. */
  void execute(Runnable task) {
    try {
      eventLoop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.trace("the loop has ended", e);
    }
  }

  void later(Runnable task) {
    var unused = schedule(task, ACK_MILLIS);
  }

  Future<?> schedule(Runnable task, long millis) {
    return eventLoop.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  static long mix(long producer) {
    long h = producer * 0x9E3779B97F4A7C15L;
    return h ^ (h >>> 32);
  }

  /** The lanes that a producer's frames go by. */
  int lane(long producer) {
    return (int) ((mix(producer) >>> 1) % federation.loopCount());
  }

  /**
   * The number of a lane, by the name of its channel.
   *
   * @throws IllegalArgumentException if another bus has given it a name that has none
   */
  static int laneOf(LinkPeer who) {
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
              + Federation.LANES
              + ".0 to "
              + Federation.LANES
              + "."
              + (Peer.MAX_INCOMING - 1)
              + ")");
    }
    return lane;
  }

  @Override
  public boolean mustWait(Runnable retry) {
    return federation.startFence().mustWait(retry);
  }

  @Override
  public RemotePlan plan(
      @Nullable RemotePlan before,
      String topic,
      Map<RemoteBus, Overflow> plain,
      Map<String, List<RemoteBus>> groups) {
    return new TopicPlan(this, topic, plain, groups, before);
  }

  /** Opens when all that this loop has sent to some buses until now has arrived. */
  Fence fence(Collection<Peer> buses) {
    Fence fence = new Fence();
    federation.acknowledgement().of(this, -1, buses, fence::open);
    return fence;
  }

  // What the future of the link comes to is told to the error handler.
  @SuppressWarnings("FutureReturnValueIgnored")
  void open(
      InetSocketAddress address,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    CompletableFuture<LinkPeer> opening;
    try {
      opening =
          federation.streams().open(address, Federation.LANES + "." + number, eventLoop, handler);
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
  private static void failed(String what, Throwable e) {
    if (RefusedMemory.isRefused(e)) {
      // It may be many of them, for the same reason, and again and again.
      LOG.warn("{}; its connection ends: {}", what, e.toString());
    } else {
      LOG.error("{}; its connection ends", what, e);
    }
  }

  /** Runs a task on this loop when the others have run what this one had collected for them. */
  void whenHandedOver(Runnable done) {
    router().flush();
    if (count() == 1) {
      done.run();
      return;
    }
    AtomicInteger left = new AtomicInteger(count() - 1);
    for (int i = 0; i < count(); i++) {
      if (i != number) {
        federation
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
  void lookSoon() {
    if (nextTickAt - nanoTime() > TICK_NANOS) {
      tickIn(TICK_NANOS);
    }
  }

  private void tickIn(long nanos) {
    if (ending) {
      return;
    }
    Future<?> before = ticker;
    if (before != null) {
      before.cancel(false);
    }
    nextTickAt = nanoTime() + nanos;
    ticker = eventLoop.schedule(this::tick, nanos, TimeUnit.NANOSECONDS);
  }

  private void tick() {
    long next = TICK_NANOS;
    try {
      next = Math.max(next, look(nanoTime()));
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of the lanes could not be checked", e);
    } finally {
      // Without another tick no deadline would hold any more.
      tickIn(next);
    }
  }

  /** Looks at all deadlines; returns for how long it need not be done again. */
  private long look(long now) {
    boolean quiet = true;
    List<LaneEnd> ends = new ArrayList<>();
    for (Peer peer : peers().all()) {
      Lane lane = peer.lane(number);
      check(lane, now);
      quiet &= lane.isUp() && !lane.isHolding();
      LaneSender open = lane.connection();
      if (open != null) {
        ends.add(open);
      }
    }
    for (LaneReceiver receiver : List.copyOf(receivers)) {
      check(receiver, now);
      quiet &= !receiver.isHeld();
      ends.add(receiver);
    }
    if (number == 0) {
      tickExchange(now);
      quiet &= !federation.exchange().isWaitedFor();
    }
    long next = showLife(ends, now);
    return quiet ? next : 0;
  }

  private static void check(Lane lane, long now) {
    try {
      lane.onTick(now);
    } catch (RuntimeException | Error e) {
      failed("lane " + lane.number() + " to " + lane.peer() + " could not be checked", e);
      lane.fail();
    }
  }

  private static void check(LaneReceiver receiver, long now) {
    try {
      receiver.onTick(now);
    } catch (RuntimeException | Error e) {
      failed("a lane of bus " + receiver.who().bus() + " could not be checked", e);
      receiver.close();
    }
  }

  private void tickExchange(long now) {
    try {
      federation.exchange().onTick(now);
    } catch (RuntimeException | Error e) {
      LOG.error("the deadlines of promises could not be checked", e);
    }
  }

  private static void showLife(LaneEnd end) {
    try {
      end.showLife();
    } catch (RuntimeException | Error e) {
      failed("a sign of life could not be sent", e);
      end.close();
    }
  }

  /** Says on the lanes where it is time that this bus lives; returns when it is next. */
  private static long showLife(List<LaneEnd> ends, long now) {
    boolean due = ends.stream().anyMatch(end -> end.signs().untilDue(now) <= 0);
    long next = LONGEST_TICK_NANOS;
    for (LaneEnd end : ends) {
      SignsOfLife signs = end.signs();
      if (due && signs.isNearlyDue(now) && !signs.isSilent(now)) {
        showLife(end);
      }
      next = Math.min(next, Math.min(signs.untilDue(now), signs.untilSilent(now)));
    }
    return next;
  }

  /**
   * Ends everything; on this loop.
   *
   * @param ended called when all other buses know that this one ends: each closes the connections
   *     of those that say so
   */
  void end(Runnable ended) {
    ending = true;
    Future<?> running = ticker;
    if (running != null) {
      running.cancel(false);
    }
    List<ChannelFuture> open = new ArrayList<>();
    for (Peer peer : peers().all()) {
      ChannelFuture closed = peer.lane(number).end();
      if (closed != null) {
        open.add(closed);
      }
    }
    List.copyOf(receivers).forEach(receiver -> open.add(receiver.end()));
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
