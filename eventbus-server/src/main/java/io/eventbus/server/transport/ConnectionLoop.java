package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.base.RefusedMemory;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.queue.BlockBudgets;
import io.eventbus.server.queue.FairQueue;
import io.eventbus.server.queue.FairTurns;
import io.eventbus.server.queue.LastEvents;
import io.eventbus.server.queue.QueueContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.WorkBudget;
import io.eventbus.server.transport.websocket.PermessageDeflate;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State of one event loop: its connections, those with something to write, and the work due at the
 * end of the current round of reads. Confined to the loop.
 *
 * <p>Deliveries are written once for each round, not once for each message: the first due work
 * submits one task, which the loop runs when it has read from every socket that was ready.
 */
final class ConnectionLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLoop.class);
  private static final RateLimitedLog ERRORS = new RateLimitedLog(LOG);

  /**
   * Interval between deadline checks. A deadline may be late by as much, that of an idle connection
   * by {@link TickOrder#ROUND} times as much.
   */
  private static final long TICK_MILLIS = 100;

  /** Interval without connections: only memory to free and those that wait for it are checked. */
  private static final long EMPTY_TICK_MILLIS = 1_000;

  /**
   * Time of writing to connections before the sockets are read again. Writing to a thousand sockets
   * takes longer; what arrives meanwhile goes out with the same write.
   */
  private static final long DRAIN_NANOS = 300_000;

  /** Bound of tasks in one turn where the first ones have nothing to do any more. */
  private static final int MAX_IN_TURN = 64;

  /** Object with deadlines of its own. */
  interface Ticking {
    /**
     * Checks deadlines.
     *
     * @return whether nothing waits here: then the next check may be {@link TickOrder#ROUND} ticks
     *     later, unless something {@linkplain ConnectionLoop#wake happens} before
     */
    boolean onTick(long nowNanos);

    /** Stops reading, because the bus is stopping. */
    void stopReading();

    /** Ends when everything is written: the bus is stopping and queues nothing more. */
    void shutdown();

    /** Returns the bytes held for this connection; any thread. */
    long heldBytes();

    /**
     * Returns how strongly this connection should be evicted where memory is short; on its loop.
     *
     * @return 0 or less for not at all; the greatest is evicted first
     */
    double evictionScore(MemoryPressure.Kind kind, long nowNanos);

    /** Ends because the bus is out of memory. */
    void evict();
  }

  private final int number;
  private final EventLoop eventLoop;
  private final ServerConfig config;
  private final LastEvents lastEvents = new LastEvents();
  private @Nullable QueueContext queues;
  private final @Nullable PermessageDeflate deflate;
  private final TickOrder connections = new TickOrder();
  private final FairQueue dirty = new FairQueue();
  private boolean moreToDrain;
  private final InflateQueue inflateQueue = new InflateQueue(this::later);
  private @Nullable Future<?> ticker;

  /** Returns whether the next tick may be as late as without connections. */
  private boolean emptyTick;

  private boolean ticking;
  private boolean flushScheduled;
  private boolean inTurn;
  private final FairTurns nextTurns = new FairTurns();
  private @Nullable Future<?> turn;
  private Consumer<Throwable> onFatal = cause -> {};
  private @Nullable LoopContext context;

  ConnectionLoop(int number, EventLoop eventLoop, ServerConfig config) {
    this.number = number;
    this.eventLoop = eventLoop;
    this.config = config;
    this.deflate =
        config.compression().enabled() ? new PermessageDeflate(config.compression().level()) : null;
  }

  /**
   * Completes the state before any connection: the router needs the loop, and the loop the router.
   */
  void start(LoopContext loopContext, BlockBudgets budgets) {
    context = loopContext;
    queues =
        new QueueContext(
            number,
            loopContext.bus().limits(),
            config.timeouts(),
            loopContext.bus().memory(),
            loopContext.stats(),
            loopContext.allocator(),
            lastEvents,
            budgets);
  }

  int number() {
    return number;
  }

  /** Returns what the queues of its connections share. */
  QueueContext queues() {
    QueueContext q = queues;
    if (q == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return q;
  }

  EventLoop eventLoop() {
    return eventLoop;
  }

  ServerConfig config() {
    return config;
  }

  LoopContext context() {
    LoopContext c = context;
    if (c == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return c;
  }

  PermessageDeflate deflate() {
    PermessageDeflate d = deflate;
    if (d == null) {
      throw new IllegalStateException("compression is off");
    }
    return d;
  }

  /**
   * Returns whether the caller is the loop's thread, for assertions; the thread that ends a loop
   * closes it.
   */
  boolean isOwn() {
    return eventLoop.inEventLoop() || eventLoop.isShuttingDown();
  }

  TickOrder.Place add(Ticking connection) {
    assert isOwn() : "not on loop " + number;
    TickOrder.Place place = connections.join(connection);
    if (ticking && emptyTick) {
      tickLater();
    }
    return place;
  }

  void remove(TickOrder.Place place) {
    assert isOwn() : "not on loop " + number;
    connections.leave(place);
  }

  /** Marks a connection as active: its deadlines are checked soon. */
  void wake(TickOrder.Place place) {
    connections.wake(place);
  }

  /** Requests a flush at the end of this round. */
  void flushSoon() {
    assert isOwn() : "not on loop " + number;
    if (!flushScheduled) {
      flushScheduled = true;
      eventLoop.execute(this);
    }
  }

  /**
   * Runs a task in a later turn of the loop, one per turn: between turns the loop reads and writes
   * for all. A task that is merely executed would come before that.
   *
   * @param address object that connections sharing a turn have in common
   */
  void nextTurn(Object address, Runnable task) {
    assert isOwn() : "not on loop " + number;
    nextTurns.add(address, task);
    scheduleTurn();
  }

  /** Returns the queue of messages that may take long to inflate. */
  InflateQueue inflateQueue() {
    return inflateQueue;
  }

  /** Runs a task after a delay. */
  void later(Runnable task, long nanos) {
    try {
      var unused = eventLoop.schedule(task, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("loop {} has ended, and every connection with it", number);
    }
  }

  private void scheduleTurn() {
    if (turn != null || inTurn || nextTurns.isEmpty()) {
      return;
    }
    try {
      turn = eventLoop.schedule(this::takeTurn, 1, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended, and every connection with it.
      nextTurns.clear();
    }
  }

  private void takeTurn() {
    turn = null;
    inTurn = true;
    WorkBudget budget = context().budget();
    try {
      budget.renew(nextTurns.size());
      long before = budget.total();
      // Tasks of connections that have ended use none of the budget.
      for (int i = 0; i < MAX_IN_TURN && budget.total() == before; i++) {
        Runnable next = nextTurns.poll();
        if (next == null) {
          break;
        }
        next.run();
      }
    } finally {
      inTurn = false;
      scheduleTurn();
    }
  }

  FairQueue drainOrder() {
    return dirty;
  }

  /** Schedules a connection with something to write for the end of this round. */
  void drainSoon(FairQueue.Entry connection) {
    assert isOwn() : "not on loop " + number;
    if (dirty.add(connection)) {
      flushSoon();
    }
  }

  /** Sets the listener for a failure of the whole bus. Before any connection. */
  void onFatal(Consumer<Throwable> listener) {
    onFatal = listener;
  }

  /**
   * Handles a failure in a connection, which is about to end. An exhausted heap fails the bus,
   * because anything may be half done. (Direct memory is refused before anything has happened.)
   */
  void onError(Throwable cause) {
    if (cause instanceof OutOfMemoryError && !RefusedMemory.isRefused(cause)) {
      onFatal.accept(cause);
    }
  }

  @Override
  public void run() {
    try {
      flushScheduled = false;
      flush();
    } catch (Error e) {
      if (RefusedMemory.isRefused(e)) {
        ERRORS.error("hand-over", e, "no memory to hand over what this loop has routed");
        return;
      }
      // The loop would go on with whatever was left half done.
      onFatal.accept(e);
      throw e;
    }
  }

  private void flush() {
    context().budget().renew();
    try {
      context().router().flush();
    } finally {
      try {
        // Also if the router had no memory: calls would wait for the next event otherwise.
        context().calls().flush();
      } finally {
        drainSome();
      }
    }
  }

  private void drainSome() {
    long began = System.nanoTime();
    try {
      for (FairQueue.Entry next = dirty.poll(); next != null; next = dirty.poll()) {
        next.run();
        if (System.nanoTime() - began > DRAIN_NANOS) {
          break;
        }
      }
    } finally {
      if (!dirty.isEmpty() && !moreToDrain) {
        moreToDrain = true;
        // Not executed at once: that would come before the sockets are read.
        later(this::drainMore, 1);
      }
    }
  }

  private void drainMore() {
    moreToDrain = false;
    // Together with what has come since, in one write.
    flushSoon();
  }

  /** Checks all deadlines from now on: ten times a second while there are connections. */
  void startTicking() {
    eventLoop.execute(
        () -> {
          ticking = true;
          tickLater();
        });
  }

  private void tickLater() {
    if (ticker != null) {
      ticker.cancel(false);
    }
    emptyTick = connections.isEmpty();
    ticker =
        eventLoop.schedule(
            this::tickOrFail, emptyTick ? EMPTY_TICK_MILLIS : TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void tickOrFail() {
    try {
      tick();
      if (ticking) {
        tickLater();
      }
    } catch (RuntimeException | Error e) {
      // No further call: no deadline holds any more.
      onFatal.accept(e);
      throw e;
    }
  }

  private void tick() {
    long nowNanos = System.nanoTime();
    context().bus().memory().wakeIfBelow();
    context().bus().memory().press();
    context().router().trim(nowNanos);
    context().trim();
    lastEvents.clear();
    context().budget().nextWindow();
    context().bus().memory().shortPieces().press();
    context().bus().memory().longPieces().press();
    connections.tick(connection -> look(connection, nowNanos));
  }

  private static boolean look(Ticking connection, long nowNanos) {
    try {
      return connection.onTick(nowNanos);
    } catch (RuntimeException | OutOfMemoryError e) {
      if (e instanceof OutOfMemoryError && !RefusedMemory.isRefused(e)) {
        throw e;
      }
      // A connection's failure must not keep the others from their deadlines.
      ERRORS.error(e.getClass().getName(), e, "a connection's deadlines could not be checked");
      return false;
    }
  }

  List<Ticking> connections() {
    return connections.connections();
  }

  int connectionCount() {
    return connections.size();
  }

  void close() {
    ticking = false;
    if (ticker != null) {
      ticker.cancel(false);
    }
    if (turn != null) {
      turn.cancel(false);
    }
    if (deflate != null) {
      deflate.close();
    }
  }
}
