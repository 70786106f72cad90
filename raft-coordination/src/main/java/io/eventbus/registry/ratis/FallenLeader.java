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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the leader's process has ended, and does not wait for the election time-out then.
 *
 * <p>A link that breaks may mean anything. A machine that refuses a new connection to the leader's
 * port says that nobody listens there: no pause, no busy network. Only then this bus stands for
 * election; the voters do so one after the other, so that the first one can win. Whatever is not
 * noticed here is noticed by the time-out.
 */
final class FallenLeader {
  private static final Logger log = LoggerFactory.getLogger(FallenLeader.class);

  private static final int TURN_MILLIS = 60;

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

  private final LinkNode links;
  private final PeerBook peers;
  private final Raft raft;
  private final ScheduledExecutorService timers;
  private final String self;
  private final Consumer<LinkPeer> watcher = this::ended;

  FallenLeader(
      LinkNode links, PeerBook peers, Raft raft, ScheduledExecutorService timers, String self) {
    this.links = links;
    this.peers = peers;
    this.raft = raft;
    this.timers = timers;
    this.self = self;
  }

  void open() {
    links.watchEnds(watcher);
  }

  void close() {
    links.unwatchEnds(watcher);
  }

  private void ended(LinkPeer peer) {
    if (!peer.channel().equals(Services.RAFT)) {
      return;
    }
    try {
      // The event loop must not wait for the engine.
      long endNanos = System.nanoTime();
      timers.execute(() -> look(peer.bus(), endNanos));
    } catch (RejectedExecutionException e) {
      log.debug("The registry closes", e);
    }
  }

  private void look(String bus, long endNanos) {
    int turn = turn(bus);
    if (turn >= 0 && bus.equals(raft.leader())) {
      Future<?> unused =
          timers.schedule(
              () -> knock(bus, endNanos), (long) turn * TURN_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** The place of this bus among the voters without the leader; -1 if it does not vote. */
  private int turn(String leader) {
    return raft.voters().stream().filter(voter -> !voter.equals(leader)).toList().indexOf(self);
  }

  private void knock(String bus, long endNanos) {
    InetSocketAddress address = peers.find(bus);
    if (address == null || !bus.equals(raft.leader())) {
      return;
    }
    var unused =
        links
            .isDeserted(address, KNOCK)
            .thenAccept(
                deserted -> {
                  if (deserted) {
                    stand(bus, endNanos);
                  }
                });
  }

  /** Not where the leader has been heard since: then it lives, and only its port is closed. */
  private void stand(String bus, long endNanos) {
    try {
      timers.execute(
          () -> {
            long silence = raft.leaderSilenceMillis();
            long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - endNanos);
            if (silence >= since) {
              var unused =
                  raft.standForElection(bus)
                      .whenComplete((stood, error) -> tell(bus, stood, error));
            }
          });
    } catch (RejectedExecutionException e) {
      log.debug("The registry closes", e);
    }
  }

  private static void tell(String bus, @Nullable Boolean stood, @Nullable Throwable error) {
    if (error != null) {
      log.debug("Not standing for election", error);
    } else if (stood != null && stood) {
      log.info("The process of the leader {} has ended; stood for election", bus);
    }
  }
}
