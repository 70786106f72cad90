package io.eventbus.registry.ratis;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of this bus into its cluster, and back into it when it was cut off. All of it runs on one
 * thread, which waits, until {@link #stop()}.
 */
final class Joining {
  private static final Logger log = LoggerFactory.getLogger(Joining.class);

  /** It does so when it has read that this bus is no member, and when it cannot go on. */
  static final String ENGINE_ENDED =
      "the engine has ended; if this bus was taken out of the voters just before, start it again,"
          + " and it will be admitted as a listener";

  private static final Duration TOO_SILENT = Duration.ofSeconds(5);
  private static final Duration MOST_TO_APPLY = Duration.ofSeconds(10);

  /** The number of an attempt after which pauses are as long as they get. */
  private static final int LONG_PAUSE = 10;

  private final RatisRegistryOptions options;
  private final Seeker seeker;
  private final PeerBook peers;
  private final Admission admission;
  private final CompletableFuture<Void> stopping = new CompletableFuture<>();
  private volatile String waitsFor = "the other buses";

  /** What the watch was told last; its thread only. */
  private String refusal = "";

  Joining(RatisRegistryOptions options, Seeker seeker, PeerBook peers, Admission admission) {
    this.options = options;
    this.seeker = seeker;
    this.peers = peers;
    this.admission = admission;
  }

  /** Ends every wait, from another thread. */
  void stop() {
    stopping.complete(null);
  }

  /** What it waits for, for people. */
  String waitsFor() {
    return waitsFor;
  }

  /** Looks for the seeds once; fails if this bus must not be where they are. */
  void look() throws IOException, InterruptedException {
    seeker.look();
  }

  /** Finds a cluster, or founds one; until then it goes on looking. */
  DataDirectory.Marker decide() throws IOException, InterruptedException {
    for (int attempt = 0; ; attempt++) {
      Seeker.Outcome outcome = seeker.look();
      if (outcome.cluster() != null) {
        log.info("Joining the cluster {}", outcome.cluster());
        return new DataDirectory.Marker(outcome.cluster(), options.bus(), false, false);
      }
      if (outcome.found()) {
        UUID cluster = UUID.randomUUID();
        log.info("Founding the cluster {}", cluster);
        return new DataDirectory.Marker(cluster, options.bus(), false, true);
      }
      waitsFor = outcome.missing();
      if (attempt == 10 || attempt % 100 == 99) {
        log.info("Still looking for a cluster; this bus waits for {}", outcome.missing());
      }
      pause(attempt);
    }
  }

  /**
   * Makes sure that the cluster does not count on a bus of this name: if there was one, what it had
   * written is gone.
   */
  void beForgotten() throws IOException, InterruptedException {
    for (int attempt = 0; !askLeader(seeker.members(), Probe.Wish.FORGET, () -> true); attempt++) {
      pause(attempt);
      seeker.look();
    }
  }

  /**
   * Waits until a leader counts this bus among the members and this bus is up to date. Fails when
   * the engine ends meanwhile.
   */
  void awaitMembership(Engine engine, CommandService commands, AppliedIndex applied)
      throws IOException, InterruptedException {
    long askedNanos = System.nanoTime();
    boolean admitted = false;
    for (int attempt = 0; ; attempt++) {
      if (!engine.isAlive()) {
        throw new IOException(ENGINE_ENDED);
      }
      if (engine.leader() != null
          && (admitted || engine.members().contains(options.bus().value()))) {
        try {
          long index = commands.readIndex(Duration.ofSeconds(2)).get(3, TimeUnit.SECONDS);
          applied.await(index, MOST_TO_APPLY).get();
          return;
        } catch (ExecutionException | TimeoutException e) {
          waitsFor = "an answer of the leader (" + e.getMessage() + ")";
        }
        // It may have been taken out since, and nobody tells it any more who leads.
        if (System.nanoTime() - askedNanos > TOO_SILENT.toNanos()) {
          askAgain(engine);
          askedNanos = System.nanoTime();
        }
      } else {
        waitsFor = "a leader, and to be told by it that this bus is a member";
        if (!seeker.hasNone() && attempt % 4 == 0) {
          // That it is a member now comes with what is applied up to a read that begins now.
          admitted = askAgain(engine);
          askedNanos = System.nanoTime();
          if (admitted && engine.leader() != null) {
            continue;
          }
        }
      }
      pause(attempt);
    }
  }

  /**
   * Now and then, to the end: asks to be admitted again when the leader is silent for long.
   *
   * <p>An engine ends by itself when it has read that its bus is no member, and then misses the
   * leader before it is taken in as a listener. Nothing but another start mends that.
   */
  void watch(Engine engine, Supplier<Duration> silence, Consumer<Throwable> failed) {
    try {
      while (true) {
        pause(LONG_PAUSE);
        if (!engine.isAlive()) {
          failed.accept(new IOException(ENGINE_ENDED));
          return;
        }
        if (silence.get().compareTo(TOO_SILENT) > 0) {
          askUndeterred(engine);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Who is in the place of a bus for a while, and what it says, must not end the watch. */
  // Other clusters' buses and later versions may answer anything.
  @SuppressWarnings("CatchingUnchecked")
  private void askUndeterred(Engine engine) throws InterruptedException {
    try {
      askAgain(engine);
      refusal = "";
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      String now = String.valueOf(e.getMessage());
      if (!now.equals(refusal)) {
        log.error("This bus is cut off from its cluster, and tries again: {}", now);
      }
      refusal = now;
    }
  }

  /** To be admitted, by all that may know the leader, as long as the engine is of use. */
  private boolean askAgain(Engine engine) throws IOException, InterruptedException {
    if (!seeker.hasNone()) {
      seeker.look();
    }
    return askLeader(others(engine), Probe.Wish.MEMBERSHIP, engine::isAlive);
  }

  private List<InetSocketAddress> others(Engine engine) {
    List<InetSocketAddress> others = new ArrayList<>(seeker.members());
    for (String voter : engine.members().voterIds()) {
      InetSocketAddress address = voter.equals(options.bus().value()) ? null : peers.find(voter);
      if (address != null) {
        others.add(address);
      }
    }
    return others;
  }

  /**
   * Asks one after the other until one has said yes.
   *
   * @param goesOn looked at before each, because an answer may take long
   */
  private boolean askLeader(
      List<InetSocketAddress> members, Probe.Wish wish, BooleanSupplier goesOn)
      throws InterruptedException {
    for (InetSocketAddress member : members) {
      if (!goesOn.getAsBoolean()) {
        return false;
      }
      try {
        admission.ask(member, wish).get(12, TimeUnit.SECONDS);
        return true;
      } catch (ExecutionException | TimeoutException e) {
        waitsFor = "its admission by " + member + " (" + e.getMessage() + ")";
        log.debug("Not admitted by {}", member, e);
      }
    }
    return false;
  }

  /** From 25 milliseconds to 1 second, with chance in it; ends early when the registry closes. */
  private void pause(int attempt) throws InterruptedException {
    long millis = Math.min(1_000, 25L << Math.min(attempt, 10));
    try {
      stopping.get(
          millis / 2 + ThreadLocalRandom.current().nextLong(millis), TimeUnit.MILLISECONDS);
      throw new InterruptedException();
    } catch (TimeoutException e) {
      // The time is over, as it should be.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
