package io.eventbus.registry.ratis.join;

import io.eventbus.base.Backoff;
import io.eventbus.raft.AppliedIndex;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ratis.disk.DataDirectory;
import io.eventbus.registry.ratis.forward.CommandService;
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
 * Way of this bus into its cluster, and back into it when it was cut off. All of it runs on one
 * thread, which waits, until {@link #stop()}.
 */
public final class Joining {
  private static final Logger log = LoggerFactory.getLogger(Joining.class);

  /** Message for a Ratis that ended: it has read that this bus is no member, or it cannot go on. */
  static final String ENGINE_ENDED =
      "the engine has ended; if this bus was taken out of the voters just before, start it again,"
          + " and it will be admitted as a listener";

  private static final Duration MAX_SILENCE = Duration.ofSeconds(5);
  private static final Duration MAX_TO_APPLY = Duration.ofSeconds(10);

  private static final Duration MIN_PAUSE = Duration.ofMillis(25);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(1);

  private final BusId self;
  private final SeedScanner scanner;
  private final PeerBook peers;
  private final JoinAdmission admission;
  private final CompletableFuture<Void> stopping = new CompletableFuture<>();
  private volatile String waitsFor = "the other buses";

  /** Last refusal that the watch was told; its thread only. */
  private String refusal = "";

  /** Creates a way that has not begun yet. */
  public Joining(BusId self, SeedScanner scanner, PeerBook peers, JoinAdmission admission) {
    this.self = self;
    this.scanner = scanner;
    this.peers = peers;
    this.admission = admission;
  }

  /** Ends every wait, from another thread. */
  public void stop() {
    stopping.complete(null);
  }

  /** Describes, for people, what it waits for. */
  public String waitsFor() {
    return waitsFor;
  }

  /** Looks for the seeds once; fails if this bus must not be where they are. */
  public void checkSeeds() throws IOException, InterruptedException {
    scanner.scan();
  }

  /** Finds a cluster, or founds one; looks again until then. */
  public DataDirectory.Marker decide() throws IOException, InterruptedException {
    Backoff backoff = new Backoff(MIN_PAUSE, MAX_PAUSE, 1);
    for (int attempt = 0; ; attempt++) {
      SeedScanner.Outcome outcome = scanner.scan();
      if (outcome.cluster() != null) {
        log.info("Joining the cluster {}", outcome.cluster());
        return new DataDirectory.Marker(outcome.cluster(), self, false, false);
      }
      if (outcome.found()) {
        UUID cluster = UUID.randomUUID();
        log.info("Founding the cluster {}", cluster);
        return new DataDirectory.Marker(cluster, self, false, true);
      }
      waitsFor = outcome.missing();
      if (attempt == 10 || attempt % 100 == 99) {
        log.info("Still looking for a cluster; this bus waits for {}", outcome.missing());
      }
      pause(backoff);
    }
  }

  /**
   * Ensures that the cluster does not count on a bus of this name: if there was one, its data is
   * gone.
   */
  public void beForgotten() throws IOException, InterruptedException {
    Backoff backoff = new Backoff(MIN_PAUSE, MAX_PAUSE, 1);
    while (!askLeader(scanner.members(), JoinMessages.JoinIntent.FORGET, () -> true)) {
      pause(backoff);
      scanner.scan();
    }
  }

  /**
   * Waits until a leader counts this bus among the members and this bus is up to date. Fails when
   * Ratis ends meanwhile.
   */
  public void awaitMembership(RatisGroup group, CommandService commands, AppliedIndex applied)
      throws IOException, InterruptedException {
    long askedNanos = System.nanoTime();
    boolean admitted = false;
    Backoff backoff = new Backoff(MIN_PAUSE, MAX_PAUSE, 1);
    for (int attempt = 0; ; attempt++) {
      if (!group.isAlive()) {
        throw new IOException(ENGINE_ENDED);
      }
      if (group.leader() != null && (admitted || group.members().contains(self.value()))) {
        try {
          long index = commands.readIndex(Duration.ofSeconds(2)).get(3, TimeUnit.SECONDS);
          applied.await(index, MAX_TO_APPLY).get();
          return;
        } catch (ExecutionException | TimeoutException e) {
          waitsFor = "an answer of the leader (" + e.getMessage() + ")";
        }
        // The bus may have been removed since, and no bus tells it any more which one leads.
        if (System.nanoTime() - askedNanos > MAX_SILENCE.toNanos()) {
          askAgain(group);
          askedNanos = System.nanoTime();
        }
      } else {
        waitsFor = "a leader, and to be told by it that this bus is a member";
        if (!scanner.hasNone() && attempt % 4 == 0) {
          // The membership is in the log up to a read that begins now.
          admitted = askAgain(group);
          askedNanos = System.nanoTime();
          if (admitted && group.leader() != null) {
            continue;
          }
        }
      }
      pause(backoff);
    }
  }

  /**
   * Watches the leader to the end: asks to be admitted again when it is silent for long.
   *
   * <p>Ratis ends by itself when it has read that its bus is no member, and then misses the leader
   * before it is admitted as a listener. Only another start mends that.
   */
  public void watch(RatisGroup group, Supplier<Duration> silence, Consumer<Throwable> failed) {
    Backoff backoff = new Backoff(MAX_PAUSE, MAX_PAUSE, 1);
    try {
      while (true) {
        pause(backoff);
        if (!group.isAlive()) {
          failed.accept(new IOException(ENGINE_ENDED));
          return;
        }
        if (silence.get().compareTo(MAX_SILENCE) > 0) {
          askUndeterred(group);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** An answer from another process at the address of a bus must not end the watch. */
  // Other clusters' buses and later versions may answer anything.
  @SuppressWarnings("CatchingUnchecked")
  private void askUndeterred(RatisGroup group) throws InterruptedException {
    try {
      askAgain(group);
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

  /** Asks all that may know the leader for admission, as long as Ratis runs. */
  private boolean askAgain(RatisGroup group) throws IOException, InterruptedException {
    if (!scanner.hasNone()) {
      scanner.scan();
    }
    return askLeader(others(group), JoinMessages.JoinIntent.MEMBERSHIP, group::isAlive);
  }

  private List<InetSocketAddress> others(RatisGroup group) {
    List<InetSocketAddress> others = new ArrayList<>(scanner.members());
    for (String voter : group.members().voterIds()) {
      InetSocketAddress address = voter.equals(self.value()) ? null : peers.find(voter);
      if (address != null) {
        others.add(address);
      }
    }
    return others;
  }

  /**
   * Asks one after the other until one has agreed.
   *
   * @param goesOn checked before each, because an answer may take long
   */
  private boolean askLeader(
      List<InetSocketAddress> members, JoinMessages.JoinIntent intent, BooleanSupplier goesOn)
      throws InterruptedException {
    for (InetSocketAddress member : members) {
      if (!goesOn.getAsBoolean()) {
        return false;
      }
      try {
        admission.ask(member, intent).get(12, TimeUnit.SECONDS);
        return true;
      } catch (ExecutionException | TimeoutException e) {
        waitsFor = "its admission by " + member + " (" + e.getMessage() + ")";
        log.debug("Not admitted by {}", member, e);
      }
    }
    return false;
  }

  /** Pauses until the next attempt; ends early when the registry closes. */
  private void pause(Backoff backoff) throws InterruptedException {
    try {
      stopping.get(backoff.nextNanos(ThreadLocalRandom.current()), TimeUnit.NANOSECONDS);
      throw new InterruptedException();
    } catch (TimeoutException e) {
      // The time is over, as it should be.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
