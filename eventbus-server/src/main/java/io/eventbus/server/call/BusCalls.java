package io.eventbus.server.call;

import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/** Services of a bus and their calls. Any thread. */
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
   * Creates the calls of a bus; each loop is then {@linkplain #start started}.
   *
   * @param memory if it is short, further calls are refused
   */
  public BusCalls(Loops loops, CallSettings settings, BusMemory memory) {
    this(loops, settings, memory, ServedHere.NOBODY);
  }

  /**
   * Creates the calls of a bus that announces its services to peers.
   *
   * @param memory if it is short, further calls are refused
   */
  public BusCalls(Loops loops, CallSettings settings, BusMemory memory, ServedHere listener) {
    this.loops = loops;
    this.settings = settings;
    this.memory = memory;
    this.presence = new Presence(memory.registrations());
    this.directory = new ServiceDirectory(loops.count(), listener);
    this.started = new AtomicReferenceArray<>(loops.count());
  }

  /** Creates the calls of a loop. Once for each loop, before any of them has a connection. */
  public LoopCalls start(int loop, LoopPort port, CallStats stats, CallStats fromBuses) {
    return start(loop, port, stats, fromBuses, ThreadLocalRandom.current().nextLong());
  }

  /** Creates the calls of a loop without peers, for tests. */
  LoopCalls start(int loop, LoopPort port, CallStats stats) {
    return start(loop, port, stats, new CallStats());
  }

  /** Creates the calls of a loop with a fixed seed for the choice of members, for tests. */
  LoopCalls start(int loop, LoopPort port, CallStats stats, long seed) {
    return start(loop, port, stats, new CallStats(), seed);
  }

  private LoopCalls start(
      int loop, LoopPort port, CallStats stats, CallStats fromBuses, long seed) {
    LoopCalls calls = new LoopCalls(this, loop, port, stats, fromBuses, seed);
    started.set(loop, calls);
    return calls;
  }

  /** Returns the presence of members. */
  public Presence presence() {
    return presence;
  }

  /** Sets the responder to requests to the bus itself, in place of the one before. */
  public void setBusService(BusService service) {
    busService = service;
  }

  BusService busService() {
    return busService;
  }

  /**
   * Returns the oldest open calls of each loop, oldest first. The future completes on a loop; never
   * if the bus ends.
   *
   * @param max maximum number of calls of each loop
   */
  public CompletableFuture<List<OpenCall>> slowest(int max) {
    CompletableFuture<List<OpenCall>> all = CompletableFuture.completedFuture(List.of());
    for (int loop = 0; loop < loops.count(); loop++) {
      LoopCalls calls = loop(loop);
      CompletableFuture<List<OpenCall>> one =
          CompletableFuture.supplyAsync(() -> calls.slowest(max), loops.executor(loop));
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

  /** Returns the figures of a service; empty if it has no members. */
  public Optional<ServiceFigures> service(ServiceKey key) {
    return Optional.ofNullable(directory.figures(key, System.nanoTime()));
  }

  /** Calls a visitor with the key of each service that has members, in any order. */
  public void forEachService(Consumer<ServiceKey> visitor) {
    directory.forEach(visitor);
  }

  /** Returns the number of members of all services. */
  public long memberCount() {
    return directory.members();
  }

  /** Returns the number of services that have members. */
  public int serviceCount() {
    return directory.count();
  }

  /** Returns the bytes of requests that wait for members. */
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
