package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.base.RefusedMemory;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.memory.BusMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Relief where memory is short: first gives up what waits for unreachable peers, then evicts the
 * connections with the highest {@linkplain ConnectionLoop.Ticking#evictionScore score}, a few at a
 * time, until there is room again.
 *
 * <p>Each loop asks its connections on its own thread and closes its own. The search is repeated
 * only after it has had an effect, so that one burst does not cost many connections.
 */
final class MemoryPressure implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryPressure.class);
  private static final RateLimitedLog EVICTIONS = new RateLimitedLog(LOG);
  private static final RateLimitedLog ERRORS = new RateLimitedLog(LOG);

  /** Kind of memory that is short. */
  enum Kind {
    /** Memory of the bus as a whole. */
    ALL("limits.memory-bytes", 8),
    /** Room for messages of which little has come. */
    SHORT_PIECES("an eighth of limits.memory-bytes, for short unfinished messages", 32),
    /** Room for other unfinished messages. */
    LONG_PIECES("a quarter of limits.memory-bytes, for long unfinished messages", 4);

    private final String what;
    private final int max;

    Kind(String what, int max) {
      this.what = what;
      this.max = max;
    }
  }

  private final Kind kind;
  private final BooleanSupplier needed;
  private final Advisories advisories;
  private final List<ConnectionLoop> loops;
  private final BooleanSupplier others;
  private final AtomicBoolean working = new AtomicBoolean();

  /** Connections that could not be evicted while memory was short; for the current search. */
  private final Set<ConnectionLoop.Ticking> failed =
      Collections.newSetFromMap(Collections.synchronizedMap(new IdentityHashMap<>()));

  private MemoryPressure(
      Kind kind,
      BooleanSupplier needed,
      List<ConnectionLoop> loops,
      BooleanSupplier others,
      Advisories advisories) {
    this.kind = kind;
    this.advisories = advisories;
    this.needed = needed;
    this.loops = loops;
    this.others = others;
  }

  /**
   * Relieves memory from now on.
   *
   * @param others gives up a peer, if it can
   */
  static void relieve(
      BusMemory memory, List<ConnectionLoop> loops, BooleanSupplier others, Advisories advisories) {
    memory.onPressure(new MemoryPressure(Kind.ALL, memory::isOver, loops, others, advisories));
    memory
        .shortPieces()
        .onPressure(
            new MemoryPressure(
                Kind.SHORT_PIECES, memory.shortPieces()::isShort, loops, () -> false, advisories));
    memory
        .longPieces()
        .onPressure(
            new MemoryPressure(
                Kind.LONG_PIECES, memory.longPieces()::isShort, loops, () -> false, advisories));
  }

  /** Starts a search; called by any thread whenever something did not fit. */
  @Override
  public void run() {
    if (!working.get() && working.compareAndSet(false, true)) {
      step(() -> new Search().ask(0));
    }
  }

  /** Runs a step of a search. If it throws, the search is over, and the next one may begin. */
  private void step(Runnable step) {
    boolean isDone = false;
    try {
      step.run();
      isDone = true;
    } finally {
      if (!isDone) {
        working.set(false);
      }
    }
  }

  /** Runs a step as a task of a loop, where no caller handles an exception. */
  private void stepOf(ConnectionLoop loop, Runnable step) {
    try {
      step(step);
    } catch (RuntimeException | Error e) {
      loop.onError(e);
      ERRORS.error(kind.name(), e, "memory is short, and a search for what to close has failed");
    }
  }

  /** Connection with its eviction score. */
  private record Candidate(int loop, ConnectionLoop.Ticking connection, double score) {}

  /**
   * Search that asks the loops one after the other, then evicts the connections with the highest
   * scores.
   */
  private final class Search {
    private final long nowNanos = System.nanoTime();
    private final PriorityQueue<Candidate> first =
        new PriorityQueue<>(Comparator.comparingDouble(Candidate::score));
    private final List<Candidate> victims = new ArrayList<>();

    void ask(int i) {
      execute(
          i,
          () -> {
            for (ConnectionLoop.Ticking connection : loops.get(i).connections()) {
              double score = failed.contains(connection) ? 0 : evictionScore(connection);
              if (score > 0) {
                first.add(new Candidate(i, connection, score));
                if (first.size() > kind.max) {
                  first.poll();
                }
              }
            }
            if (i + 1 < loops.size()) {
              ask(i + 1);
            } else {
              victims.addAll(first);
              victims.sort(Comparator.comparingDouble(Candidate::score).reversed());
              relieve();
            }
          });
    }

    private double evictionScore(ConnectionLoop.Ticking connection) {
      try {
        return connection.evictionScore(kind, nowNanos);
      } catch (RuntimeException e) {
        LOG.error("the eviction score of a connection could not be computed", e);
        return 0;
      }
    }

    /** Evicts a connection; a failure does not keep others from being evicted. */
    private void evict(ConnectionLoop.Ticking connection) {
      try {
        connection.evict();
      } catch (RuntimeException | OutOfMemoryError e) {
        if (e instanceof OutOfMemoryError && !RefusedMemory.isRefused(e)) {
          throw e;
        }
        failed.add(connection);
        LOG.error("a connection could not be closed for want of memory", e);
      }
    }

    private void relieve() {
      if (needed.getAsBoolean() && others.getAsBoolean()) {
        again();
      } else {
        evict(0);
      }
    }

    private void evict(int next) {
      if (next == victims.size() || !needed.getAsBoolean()) {
        working.set(false);
        if (!needed.getAsBoolean()) {
          failed.clear();
        } else if (next > 0) {
          again();
        }
        return;
      }
      Candidate victim = victims.get(next);
      execute(
          victim.loop(),
          () -> {
            long held = victim.connection().heldBytes();
            EVICTIONS.warn(
                kind.name(),
                "memory is short ({}): closing {}, which holds {} bytes",
                kind.what,
                victim.connection(),
                held);
            evict(victim.connection());
            evict(next + 1);
            advisories.tell(
                new Advisory.ConnectionEvicted(
                    String.valueOf(victim.connection()), held, kind.what));
          });
    }

    private void again() {
      working.set(false);
      MemoryPressure.this.run();
    }

    private void execute(int loop, Runnable task) {
      try {
        loops.get(loop).eventLoop().execute(() -> stepOf(loops.get(loop), task));
      } catch (RejectedExecutionException e) {
        working.set(false);
      }
    }
  }
}
