package io.eventbus.server.call;

import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.Loops;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The services of a bus and the calls of them. Any thread. */
public final class BusCalls {
  private final Loops loops;
  private final CallSettings settings;
  private final BusMemory memory;
  private final ServiceDirectory directory;
  private final AtomicLong queuedBytes = new AtomicLong();
  private final Presence presence;
  private final AtomicReferenceArray<LoopCalls> started;
  private volatile BusService busService = BusService.NONE;

  /**
   * Makes the calls of a bus; each loop is then {@linkplain #start started}.
   *
   * @param memory where it is short, no further calls are taken
   */
  public BusCalls(Loops loops, CallSettings settings, BusMemory memory) {
    this(loops, settings, memory, ServedHere.NOBODY);
  }

  /**
   * Makes the calls of a bus that tells others of its services.
   *
   * @param memory where it is short, no further calls are taken
   */
  public BusCalls(Loops loops, CallSettings settings, BusMemory memory, ServedHere listener) {
    this.loops = loops;
    this.settings = settings;
    this.memory = memory;
    this.presence = new Presence(memory.registrations());
    this.directory = new ServiceDirectory(loops.count(), listener);
    this.started = new AtomicReferenceArray<>(loops.count());
  }

  /** Gives a loop its calls. Once for each loop, before any of them has a connection. */
  public LoopCalls start(int loop, LoopPort port, CallStats stats, CallStats fromBuses) {
    return start(loop, port, stats, fromBuses, ThreadLocalRandom.current().nextLong());
  }

  /** Without other buses, as tests do. */
  LoopCalls start(int loop, LoopPort port, CallStats stats) {
    return start(loop, port, stats, new CallStats());
  }

  /** With the same choice of members each time, as tests do. */
  LoopCalls start(int loop, LoopPort port, CallStats stats, long seed) {
    return start(loop, port, stats, new CallStats(), seed);
  }

  private LoopCalls start(
      int loop, LoopPort port, CallStats stats, CallStats fromBuses, long seed) {
    LoopCalls calls = new LoopCalls(this, loop, port, stats, fromBuses, seed);
    started.set(loop, calls);
    return calls;
  }

  /** Returns who is a member of which service. */
  public Presence presence() {
    return presence;
  }

  /**
   * Sets what answers requests to the bus itself.
   *
   * @param service in place of the one before
   */
  public void answerWith(BusService service) {
    busService = service;
  }

  BusService busService() {
    return busService;
  }

  /**
   * Finds the calls that have been under way for longest. Each loop is asked.
   *
   * @param most of each loop at most so many
   * @return completes on a loop; for each loop its calls, the oldest first; never if the bus ends
   */
  public CompletableFuture<List<OpenCall>> slowest(int most) {
    CompletableFuture<List<OpenCall>> all = CompletableFuture.completedFuture(List.of());
    for (int loop = 0; loop < loops.count(); loop++) {
      LoopCalls calls = loop(loop);
      CompletableFuture<List<OpenCall>> one =
          CompletableFuture.supplyAsync(() -> calls.slowest(most), loops.executor(loop));
      all =
          all.thenCombine(
              one,
              (before, more) -> {
                List<OpenCall> both = new ArrayList<>(before);
                both.addAll(more);
                return both;
              });
    }
    return all;
  }

  /** Lists the services that have members. */
  public List<ServiceFigures> services() {
    return directory.figures(System.nanoTime());
  }

  /**
   * Returns how many services have members.
   *
   * @return at least 0
   */
  public int serviceCount() {
    return directory.count();
  }

  /**
   * Returns how much waits for members.
   *
   * @return bytes of requests
   */
  public long queuedBytes() {
    return queuedBytes.get();
  }

  AtomicLong queued() {
    return queuedBytes;
  }

  LoopCalls loop(int loop) {
    LoopCalls calls = started.get(loop);
    if (calls == null) {
      throw new IllegalStateException("loop " + loop + " has no calls (expected: started)");
    }
    return calls;
  }

  Executor executor(int loop) {
    return loops.executor(loop);
  }

  int loopCount() {
    return loops.count();
  }

  BusMemory memory() {
    return memory;
  }

  CallSettings settings() {
    return settings;
  }

  ServiceDirectory directory() {
    return directory;
  }
}
