package io.eventbus.raft.repair;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.raft.members.PeerBook;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detector of the end of the leader's process, which makes the election time-out unnecessary then.
 * Each Raft group has one.
 *
 * <p>The gap: Ratis hears of a leader's end by the time-out only. A link that breaks may mean
 * anything. A machine that refuses a new connection to the leader's port says that no process
 * listens there: no pause, no busy network. A proxy that restarts refuses too; so the port has to
 * refuse twice, a heartbeat apart, and nothing may be heard from the leader in between. Only then
 * this bus stands for election ({@link EarlyElection}), without a pre-vote; the voters do so one
 * after the other, so that the first one can win. A crash that is not detected here is detected by
 * the time-out. No upstream ticket is known.
 *
 * <p>Remove when an election time-out of 300 to 600 ms after a crash is soon enough, or Ratis takes
 * a hint that its leader is gone.
 */
public final class LeaderCrashDetector {
  private static final Logger log = LoggerFactory.getLogger(LeaderCrashDetector.class);

  /** Time between the first probes of two voters. */
  static final int STAGGER_MILLIS = 60;

  /**
   * Number of probes: messages that the leader sent before its end may still be at work here; later
   * the time-out is over.
   */
  static final int PROBES = 4;

  /** Time within which a deserted port has to refuse. */
  private static final Duration PROBE_LIMIT = Duration.ofMillis(500);

  /** Port to the group. */
  public interface Raft {
    /** The leader that this bus knows, null for none. */
    @Nullable String leader();

    /** Returns the ids of the voters, in their order. */
    List<String> voters();

    /** Returns the time since the leader was heard from, in milliseconds; -1 if it is not known. */
    long leaderSilenceMillis();

    /**
     * Stands for election in the place of that leader; the result is false if it may not, or need
     * not.
     */
    CompletableFuture<Boolean> standForElection(String leader);
  }

  /** Port to the links to other buses. */
  public interface Links {
    /** Adds a watcher that is told of each end of a link that another bus has opened. */
    void watchEnds(Consumer<LinkPeer> watcher);

    /** Removes a watcher. */
    void unwatchEnds(Consumer<LinkPeer> watcher);

    /**
     * Checks whether the port of that bus refuses connections; the result is false if no address of
     * it is known.
     */
    CompletableFuture<Boolean> isDeserted(String bus, Duration limit);

    /** Returns the port to the links of a node. */
    static Links of(LinkNode node, PeerBook peers) {
      return new Links() {
        @Override
        public void watchEnds(Consumer<LinkPeer> watcher) {
          node.watchEnds(watcher);
        }

        @Override
        public void unwatchEnds(Consumer<LinkPeer> watcher) {
          node.unwatchEnds(watcher);
        }

        @Override
        public CompletableFuture<Boolean> isDeserted(String bus, Duration limit) {
          InetSocketAddress address = peers.find(bus);
          return address == null
              ? CompletableFuture.completedFuture(false)
              : node.isDeserted(address, limit);
        }
      };
    }
  }

  private final Links links;
  private final Raft raft;
  private final ScheduledExecutorService timers;
  private final LongSupplier nanoTime;
  private final Duration heartbeat;
  private final String self;
  private final String channel;
  private final Consumer<LinkPeer> watcher = this::ended;

  /** Creates a detector that does nothing before {@link #open()}. */
  public LeaderCrashDetector(
      Links links,
      Raft raft,
      ScheduledExecutorService timers,
      LongSupplier nanoTime,
      Duration heartbeat,
      String self,
      String channel) {
    this.links = links;
    this.raft = raft;
    this.timers = timers;
    this.nanoTime = nanoTime;
    this.heartbeat = heartbeat;
    this.self = self;
    this.channel = channel;
  }

  /** Begins to watch. */
  public void open() {
    links.watchEnds(watcher);
  }

  /** Stops watching. */
  public void close() {
    links.unwatchEnds(watcher);
  }

  private void ended(LinkPeer peer) {
    if (peer.channel().equals(channel)) {
      // The event loop must not wait for Ratis.
      later(Duration.ZERO, () -> firstProbe(peer.bus()));
    }
  }

  private void firstProbe(String bus) {
    int place = place(bus);
    if (place >= 0) {
      later(Duration.ofMillis((long) place * STAGGER_MILLIS), () -> probe(bus, PROBES, null));
    }
  }

  /** Returns the place of this bus among the voters without the leader; -1 if it does not vote. */
  private int place(String leader) {
    return raft.voters().stream().filter(voter -> !voter.equals(leader)).toList().indexOf(self);
  }

  /**
   * Probes the leader's port.
   *
   * @param refusedNanos time of the last refusal by the port; null if it has not refused
   */
  private void probe(String bus, int probes, @Nullable Long refusedNanos) {
    if (bus.equals(raft.leader())) {
      var unused =
          links
              .isDeserted(bus, PROBE_LIMIT)
              .thenAccept(
                  deserted -> {
                    if (deserted) {
                      later(Duration.ZERO, () -> refused(bus, probes - 1, refusedNanos));
                    }
                  });
    }
  }

  private void refused(String bus, int probes, @Nullable Long beforeNanos) {
    long now = nanoTime.getAsLong();
    // A leader that was heard since lives, and only its port is closed; or a message from before
    // its end was still at work here, which the next probe tells.
    if (beforeNanos != null
        && raft.leaderSilenceMillis() >= TimeUnit.NANOSECONDS.toMillis(now - beforeNanos)) {
      var unused =
          raft.standForElection(bus).whenComplete((stands, error) -> tell(bus, stands, error));
    } else if (probes > 0) {
      later(heartbeat, () -> probe(bus, probes, now));
    }
  }

  private void later(Duration delay, Runnable task) {
    try {
      Future<?> unused = timers.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("This bus ends", e);
    }
  }

  private static void tell(String bus, @Nullable Boolean stands, @Nullable Throwable error) {
    if (error != null) {
      log.debug("Not standing for election", error);
    } else if (stands != null && stands) {
      log.info("The process of the leader {} has ended: standing for election", bus);
    }
  }
}
