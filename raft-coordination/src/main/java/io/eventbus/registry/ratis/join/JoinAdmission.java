package io.eventbus.registry.ratis.join;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.VoterChanges;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.forward.CommandGate;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import io.eventbus.registry.ratis.forward.Services;
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
 * Admission of a bus as a member: it asks any member, and is told to ask the leader, which adds it
 * as a listener or takes note of its new address.
 */
public final class JoinAdmission {
  private static final Logger log = LoggerFactory.getLogger(JoinAdmission.class);

  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /**
   * Maximum number of log entries that a new bus may have to read one by one, in a process that has
   * just started and is slow yet; if there are more of them, it gets a snapshot.
   */
  private static final int MAX_ENTRIES = 500;

  private static final long SNAPSHOT_MILLIS = 2_000;

  private final LinkNode links;
  private final PeerBook peers;
  private final Joiner self;
  private final int snapshotEntries;
  private final Supplier<@Nullable Running> running;
  private final Predicate<String> alive;

  /**
   * This bus, as others are to know it.
   *
   * @param advertised its address
   */
  public record Joiner(BusId bus, Endpoint advertised) {}

  /** Access of a leader to its group, to admit others. */
  public record Running(RatisGroup group, CommandGate gate) {}

  /**
   * Creates an admission that is not offered yet.
   *
   * @param snapshotEntries number of entries of the log after which a snapshot is taken
   * @param running null as long as this bus does not run
   */
  public JoinAdmission(
      LinkNode links,
      PeerBook peers,
      Joiner self,
      int snapshotEntries,
      Supplier<@Nullable Running> running,
      Predicate<String> alive) {
    this.links = links;
    this.peers = peers;
    this.self = self;
    this.snapshotEntries = snapshotEntries;
    this.running = running;
    this.alive = alive;
  }

  /** Offers it to other buses. */
  public void open() {
    links.offer(Services.JOIN, this::onJoin);
  }

  /** Withdraws it. */
  public void close() {
    links.withdraw(Services.JOIN);
  }

  /** Asks a member, and then the leader that it names; the future fails with their answers. */
  CompletableFuture<byte[]> ask(InetSocketAddress member, JoinMessages.JoinIntent intent) {
    byte[] question =
        new JoinMessages.Question(
                self.bus(), links.identity().instance(), self.advertised(), intent)
            .encode();
    return links
        .call(member, Services.COMMANDS, Services.JOIN, question, DEADLINE)
        .exceptionallyCompose(
            error -> {
              Throwable cause = LeaderRetry.unwrap(error);
              InetSocketAddress leader =
                  cause instanceof LinkServiceException failure
                          && failure.code().equals(CommandService.NOT_LEADER)
                      ? PeerBook.parse(String.valueOf(failure.getMessage()))
                      : null;
              return leader == null
                  ? CompletableFuture.failedFuture(cause)
                  : links.call(leader, Services.COMMANDS, Services.JOIN, question, DEADLINE);
            });
  }

  private CompletionStage<byte[]> onJoin(LinkPeer peer, byte[] request) {
    JoinMessages.Question question = JoinMessages.Question.decode(request);
    if (!question.bus().value().equals(peer.bus())) {
      throw new LinkServiceException(LinkServiceException.MALFORMED, "bus: " + question.bus());
    }
    Running now = running.get();
    RatisGroup group = now == null ? null : now.group();
    String leader = group == null ? null : group.leader();
    if (now == null || group == null || leader == null) {
      throw new LinkServiceException(CommandService.UNCERTAIN, "no leader is known");
    }
    if (!leader.equals(self.bus().value())) {
      InetSocketAddress address = peers.find(leader);
      throw new LinkServiceException(
          CommandService.NOT_LEADER,
          address == null ? "" : address.getHostString() + ":" + address.getPort());
    }
    CompletableFuture<Void> done =
        switch (question.intent()) {
          case FORGET -> {
            if (alive.test(peer.bus())) {
              throw new LinkServiceException(
                  CommandService.IN_USE,
                  "bus " + peer.bus() + " holds a lease (expected: that it has run out)");
            }
            yield VoterChanges.expel(group, peer.bus());
          }
          case MEMBERSHIP -> {
            peers.learn(peer.bus(), question.address().unresolved());
            yield admit(now, peer.bus(), question.address());
          }
          case NONE, PROMISE, INVITATION ->
              throw new LinkServiceException(
                  LinkServiceException.MALFORMED, "wish: " + question.intent());
        };
    return done.thenApply(nothing -> new byte[0]);
  }

  /**
   * Admits a bus. Only a bus that is no member gets a snapshot: entries that an absent listener
   * lacks are in the log as a rule, and a snapshot holds up all commands while the leader writes
   * it.
   */
  private CompletableFuture<Void> admit(Running leading, String bus, Endpoint address) {
    RatisGroup group = leading.group();
    RaftPeer peer = RatisGroup.peer(bus, address.toString());
    return group.members().contains(bus) || group.isChangingMembers()
        ? place(group, peer)
        : shortenLog(leading).thenCompose(nothing -> place(group, peer));
  }

  /**
   * Adds a bus to the members. A bus that is a member and asks again has another address, or is a
   * listener to which Ratis has stopped sending: then it is removed and added again. All is decided
   * on one look at the members, which may have changed while the snapshot was taken.
   */
  private static CompletableFuture<Void> place(RatisGroup group, RaftPeer peer) {
    RaftMembers now = group.members();
    String bus = peer.getId().toString();
    if (now.voterIds().contains(bus)) {
      RaftMembers moved = new RaftMembers(replaced(now.voters(), peer), now.listeners());
      return isAt(now, bus, peer.getAddress())
          ? CompletableFuture.completedFuture(null)
          : group.change(now, moved);
    }
    RaftMembers without = now.without(bus);
    List<RaftPeer> listeners = new ArrayList<>(without.listeners());
    listeners.add(peer);
    RaftMembers with = new RaftMembers(without.voters(), listeners);
    CompletableFuture<Void> out =
        now.contains(bus) ? group.change(now, without) : CompletableFuture.completedFuture(null);
    return out.thenCompose(nothing -> group.change(without, with));
  }

  private CompletableFuture<Void> shortenLog(Running leading) {
    int max = Math.max(1, Math.min(MAX_ENTRIES, snapshotEntries / 4));
    return shortenLog(
        () ->
            leading
                .group()
                .takeSnapshot(SNAPSHOT_MILLIS, max)
                // While another one is being taken Ratis answers with that one.
                .orTimeout(SNAPSHOT_MILLIS, TimeUnit.MILLISECONDS),
        () -> leading.gate().confirm());
  }

  /**
   * Shortens the log, so that a new bus has little to read, but not nothing: without an entry after
   * the snapshot Ratis would not look before its next time-out whether the bus has caught up. Never
   * fails; without a snapshot it takes longer, no more.
   *
   * @param snapshot takes a snapshot if there are many entries since the last one
   * @param entry makes an entry, which is not waited for
   */
  static CompletableFuture<Void> shortenLog(
      Supplier<CompletableFuture<Long>> snapshot, Supplier<CompletableFuture<Void>> entry) {
    return snapshot
        .get()
        .handle(
            (index, error) -> {
              if (error != null) {
                log.info(
                    "A bus joins without a new snapshot: {}", LeaderRetry.unwrap(error).toString());
              }
              var unused = entry.get();
              return null;
            });
  }

  private static boolean isAt(RaftMembers members, String bus, String address) {
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
