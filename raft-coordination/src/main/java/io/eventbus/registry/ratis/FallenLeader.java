package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
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
 * Notices that the leader's process has ended, and does not wait for the election time-out then.
 *
 * <p>A link that breaks may mean anything. A machine that refuses a new connection to the leader's
 * port says that nobody listens there: no pause, no busy network. A proxy that restarts refuses
 * too; so the port has to refuse twice, a heartbeat apart, and nothing may be heard of the leader
 * in between. Only then this bus stands for election, without asking the others first whether it
 * would win; the voters do so one after the other, so that the first one can. Whatever is not
 * noticed here is noticed by the time-out.
 */
final class FallenLeader {
  private static final Logger log = LoggerFactory.getLogger(FallenLeader.class);

  /** Between the first looks of two voters. */
  static final int TURN_MILLIS = 60;

  /** What the leader sent before its end may still be at work here; later the time-out is over. */
  static final int LOOKS = 4;

  /** Who listens answers within this, or is not taken for gone. */
  private static final Duration KNOCK = Duration.ofMillis(500);

  /** What it needs of the engine. */
  interface Raft {
    /** The leader that this bus knows, null for none. */
    @Nullable String leader();

    /** The ids of those that vote, in their order. */
    List<String> voters();

    /** For how long nothing was heard of the leader; -1 if that is not known. */
    long leaderSilenceMillis();

    /** Stands for election in the place of that leader; false if it may not, or need not. */
    CompletableFuture<Boolean> standForElection(String leader);
  }

  /** What it needs of the links to other buses. */
  interface Links {
    void watchEnds(Consumer<LinkPeer> watcher);

    void unwatchEnds(Consumer<LinkPeer> watcher);

    /** Whether the port of that bus refuses connections; false if no address of it is known. */
    CompletableFuture<Boolean> isDeserted(String bus, Duration limit);

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
  private final Consumer<LinkPeer> watcher = this::ended;

  /**
   * Made once for each start of the engine.
   *
   * @param timers on one thread of which all looks happen
   * @param heartbeat the longest time between two messages of a leader that lives
   */
  FallenLeader(
      Links links,
      Raft raft,
      ScheduledExecutorService timers,
      LongSupplier nanoTime,
      Duration heartbeat,
      String self) {
    this.links = links;
    this.raft = raft;
    this.timers = timers;
    this.nanoTime = nanoTime;
    this.heartbeat = heartbeat;
    this.self = self;
  }

  void open() {
    links.watchEnds(watcher);
  }

  void close() {
    links.unwatchEnds(watcher);
  }

  private void ended(LinkPeer peer) {
    if (peer.channel().equals(Services.RAFT)) {
      // The event loop must not wait for the engine.
      later(Duration.ZERO, () -> firstLook(peer.bus()));
    }
  }

  private void firstLook(String bus) {
    int turn = turn(bus);
    if (turn >= 0) {
      later(Duration.ofMillis((long) turn * TURN_MILLIS), () -> knock(bus, LOOKS, null));
    }
  }

  /** The place of this bus among the voters without the leader; -1 if it does not vote. */
  private int turn(String leader) {
    return raft.voters().stream().filter(voter -> !voter.equals(leader)).toList().indexOf(self);
  }

  /**
   * Looks at the leader's port.
   *
   * @param looks how many are left, with this one
   * @param refusedNanos when the port refused last; null if it has not
   */
  private void knock(String bus, int looks, @Nullable Long refusedNanos) {
    if (bus.equals(raft.leader())) {
      var unused =
          links
              .isDeserted(bus, KNOCK)
              .thenAccept(
                  deserted -> {
                    if (deserted) {
                      later(Duration.ZERO, () -> refused(bus, looks - 1, refusedNanos));
                    }
                  });
    }
  }

  private void refused(String bus, int looks, @Nullable Long beforeNanos) {
    long now = nanoTime.getAsLong();
    // A leader that was heard since lives, and only its port is closed; or what it sent before its
    // end was still at work here, which the next look tells.
    if (beforeNanos != null
        && raft.leaderSilenceMillis() >= TimeUnit.NANOSECONDS.toMillis(now - beforeNanos)) {
      var unused =
          raft.standForElection(bus).whenComplete((stands, error) -> tell(bus, stands, error));
    } else if (looks > 0) {
      later(heartbeat, () -> knock(bus, looks, now));
    }
  }

  private void later(Duration delay, Runnable look) {
    try {
      Future<?> unused = timers.schedule(look, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("The registry closes", e);
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
