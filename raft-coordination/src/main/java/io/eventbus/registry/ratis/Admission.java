package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import io.eventbus.registry.Endpoint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a bus becomes a member: it asks one, and is told to ask the leader, which adds it as a
 * listener or takes note of its new address.
 */
final class Admission {
  private static final Logger log = LoggerFactory.getLogger(Admission.class);

  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /**
   * So many log entries a new bus may have to read one by one, in a process that has just started
   * and is slow yet; where there are more of them, it gets a snapshot.
   */
  private static final int MOST_ENTRIES = 500;

  private static final long SNAPSHOT_MILLIS = 2_000;

  private final LinkNode links;
  private final PeerBook peers;
  private final RatisRegistryOptions options;
  private final Supplier<@Nullable Running> running;
  private final Predicate<String> alive;

  Admission(
      LinkNode links,
      PeerBook peers,
      RatisRegistryOptions options,
      Supplier<@Nullable Running> running,
      Predicate<String> alive) {
    this.links = links;
    this.peers = peers;
    this.options = options;
    this.running = running;
    this.alive = alive;
  }

  /** Asks a member, and then the leader that it names; the future fails with what they say. */
  CompletableFuture<byte[]> ask(InetSocketAddress member, Probe.Wish wish) {
    byte[] question =
        new Probe.Question(options.bus(), links.identity().instance(), options.advertised(), wish)
            .encode();
    return links
        .call(member, Services.COMMANDS, Services.JOIN, question, DEADLINE)
        .exceptionallyCompose(
            error -> {
              Throwable cause = Attempts.unwrap(error);
              InetSocketAddress leader =
                  cause instanceof LinkServiceException told
                          && told.code().equals(CommandService.NOT_LEADER)
                      ? PeerBook.parse(String.valueOf(told.getMessage()))
                      : null;
              return leader == null
                  ? CompletableFuture.failedFuture(cause)
                  : links.call(leader, Services.COMMANDS, Services.JOIN, question, DEADLINE);
            });
  }

  CompletionStage<byte[]> onJoin(LinkPeer peer, byte[] request) {
    Probe.Question question = Probe.Question.decode(request);
    if (!question.bus().value().equals(peer.bus())) {
      throw new LinkServiceException(CommandService.MALFORMED, "bus: " + question.bus());
    }
    Running now = running.get();
    Engine engine = now == null ? null : now.engine();
    String leader = engine == null ? null : engine.leader();
    if (now == null || engine == null || leader == null) {
      throw new LinkServiceException(CommandService.UNCERTAIN, "no leader is known");
    }
    if (!leader.equals(options.bus().value())) {
      InetSocketAddress address = peers.find(leader);
      throw new LinkServiceException(
          CommandService.NOT_LEADER,
          address == null ? "" : address.getHostString() + ":" + address.getPort());
    }
    CompletableFuture<Void> done =
        switch (question.wish()) {
          case FORGET -> {
            if (alive.test(peer.bus())) {
              throw new LinkServiceException(
                  CommandService.IN_USE,
                  "bus " + peer.bus() + " holds a lease (expected: that it has run out)");
            }
            yield VoterChanges.expel(engine, peer.bus());
          }
          case MEMBERSHIP -> {
            peers.learn(peer.bus(), PeerBook.unresolved(question.address()));
            yield admit(now, peer.bus(), question.address());
          }
          case NONE, PROMISE, INVITATION ->
              throw new LinkServiceException(CommandService.MALFORMED, "wish: " + question.wish());
        };
    return done.thenApply(nothing -> new byte[0]);
  }

  /**
   * Only a bus that is no member gets a snapshot. What a listener that was away lacks is in the log
   * as a rule, and a snapshot holds up all commands while the leader writes it.
   */
  private CompletableFuture<Void> admit(Running running, String bus, Endpoint address) {
    Engine engine = running.engine();
    RaftPeer peer = Engine.peer(bus, address);
    return engine.members().contains(bus) || engine.isChangingMembers()
        ? place(engine, peer)
        : shortenLog(running).thenCompose(nothing -> place(engine, peer));
  }

  /**
   * A bus that is a member and asks again has another address, or is a listener to which the engine
   * has stopped sending: then it is taken out and added again. All is decided on one look at the
   * members, which may have changed while the snapshot was taken.
   */
  private static CompletableFuture<Void> place(Engine engine, RaftPeer peer) {
    Members now = engine.members();
    String bus = peer.getId().toString();
    if (now.voterIds().contains(bus)) {
      Members moved = new Members(replaced(now.voters(), peer), now.listeners());
      return isAt(now, bus, peer.getAddress())
          ? CompletableFuture.completedFuture(null)
          : engine.change(now, moved);
    }
    Members without = now.without(bus);
    List<RaftPeer> listeners = new ArrayList<>(without.listeners());
    listeners.add(peer);
    Members with = new Members(without.voters(), listeners);
    CompletableFuture<Void> out =
        now.contains(bus) ? engine.change(now, without) : CompletableFuture.completedFuture(null);
    return out.thenCompose(nothing -> engine.change(without, with));
  }

  private CompletableFuture<Void> shortenLog(Running running) {
    int most = Math.max(1, Math.min(MOST_ENTRIES, options.snapshotEntries() / 4));
    return shortenLog(
        () ->
            running
                .engine()
                .takeSnapshot(SNAPSHOT_MILLIS, most)
                // Where another one is being taken the engine answers with that one.
                .orTimeout(SNAPSHOT_MILLIS, TimeUnit.MILLISECONDS),
        () -> running.gate().confirm());
  }

  /**
   * Sees to it that a new bus has little to read, and that there is something to read: without an
   * entry after the snapshot the engine would not look before its next time-out whether the bus has
   * caught up. Never fails; without a snapshot it takes longer, no more.
   *
   * @param snapshot takes a snapshot if there are many entries since the last one
   * @param entry makes an entry, for which nobody has to wait
   */
  static CompletableFuture<Void> shortenLog(
      Supplier<CompletableFuture<Long>> snapshot, Supplier<CompletableFuture<Void>> entry) {
    return snapshot
        .get()
        .handle(
            (index, error) -> {
              if (error != null) {
                log.info(
                    "A bus joins without a new snapshot: {}", Attempts.unwrap(error).toString());
              }
              var unused = entry.get();
              return null;
            });
  }

  private static boolean isAt(Members members, String bus, String address) {
    return members.voters().stream()
        .anyMatch(p -> p.getId().toString().equals(bus) && address.equals(p.getAddress()));
  }

  private static List<RaftPeer> replaced(List<RaftPeer> peers, RaftPeer peer) {
    List<RaftPeer> next = new ArrayList<>(peers.size() + 1);
    for (RaftPeer other : peers) {
      next.add(other.getId().equals(peer.getId()) ? peer : other);
    }
    return next;
  }
}
