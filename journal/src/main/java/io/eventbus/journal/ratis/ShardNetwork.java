package io.eventbus.journal.ratis;

import io.eventbus.journal.copy.CopySource;
import io.eventbus.link.DedicatedLoop;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.raft.AppliedIndex;
import io.eventbus.raft.RaftServices;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.RatisServer;
import io.eventbus.raft.TransportSettings;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.LeaderCrashDetector;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Links of a replica to the others: the messages of Ratis, and the entries of this bus on their way
 * to the leader. One event loop drives both. Any thread may call any method.
 */
final class ShardNetwork implements EntrySender.Network, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardNetwork.class);

  /** Kind of all channels of shards. */
  private static final String KIND = "shards";

  private static final RaftServices RAFT = new RaftServices(100, KIND + ".raft");
  private static final String ENTRY_CHANNEL = KIND + ".entries";
  private static final int ENTRY_SERVICE = 104;

  /** Channel of copies, on the loops of all other links: the log is not to wait for their bytes. */
  private static final String COPY_CHANNEL = "shard-copies";

  private static final int COPY_SERVICE = 105;
  private static final Duration STATE_TIMEOUT = Duration.ofSeconds(5);

  /** Timeout of messages that this group does not send: its snapshots have no files. */
  private static final Duration SNAPSHOT_TIMEOUT = Duration.ofSeconds(1);

  /** Delay below the time between entries under load: a lone event is soon seen at all buses. */
  private static final Duration COMMIT_DELAY = Duration.ofMillis(1);

  private final ShardOptions options;
  private final LinkNode links;
  private final DedicatedLoop loop;
  private final PeerBook peers = new PeerBook();
  private final Consumer<LinkPeer> watcher = this::ended;
  private volatile @Nullable RatisGroup group;
  private volatile @Nullable EntrySender sender;
  private volatile @Nullable EntryReceiver receiver;
  private volatile @Nullable LeaderCrashDetector crashes;

  /**
   * Creates the links; nothing is offered yet.
   *
   * @throws IllegalStateException if the links of the bus are closed
   */
  ShardNetwork(ShardOptions options, ShardReplicas replicas) {
    this.options = options;
    links = replicas.links();
    loop = links.useDedicatedLoop(Set.of(KIND));
    for (ShardMember member : replicas.members()) {
      peers.learn(member.id(), member.socketAddress());
    }
  }

  static TransportSettings settings(ShardOptions options) {
    return new TransportSettings(
        RAFT,
        "the log of shard " + options.shard(),
        options.tuning().electionTimeoutMin(),
        TransportSettings.FIRST_ENTRIES,
        SNAPSHOT_TIMEOUT,
        COMMIT_DELAY);
  }

  /**
   * Returns the resources of Ratis.
   *
   * @param workers answer other buses; they may wait
   * @param calls makes the calls that may wait
   */
  RatisServer.Wiring wiring(ExecutorService workers, ExecutorService calls) {
    return new RatisServer.Wiring(links, loop, peers, workers, calls);
  }

  /**
   * Takes entries of other buses from now on, and watches for the end of the leader's process.
   *
   * @param timers for tasks that do not wait
   * @return the log for the entries of this bus
   */
  ShardGate.Log open(
      RatisGroup started, ShardClock clock, AppliedIndex applied, ScheduledExecutorService timers) {
    group = started;
    ShardOptions.Tuning tuning = options.tuning();
    EntryReceiver created =
        new EntryReceiver(
            options.group(),
            new EntryReceiver.Replica() {
              @Override
              public long term() {
                return started.term();
              }

              @Override
              public CompletableFuture<RecordResultsMessage> submit(EntryMessage entry) {
                return started.submit(entry).thenApply(RecordResultsMessage.class::cast);
              }
            },
            clock::stamp,
            2 * tuning.maxPendingBytes(),
            loop);
    EntrySender log =
        new EntrySender(
            options.group(),
            options.member(),
            created,
            this,
            applied,
            tuning.answerTimeout(),
            loop,
            loop::after,
            System::nanoTime);
    receiver = created;
    sender = log;
    LeaderCrashes ports = new LeaderCrashes(links, peers, started);
    LeaderCrashDetector detector =
        new LeaderCrashDetector(
            ports,
            ports,
            timers,
            System::nanoTime,
            // A leader of this group is never silent for longer than half of that.
            tuning.electionTimeoutMin().dividedBy(2),
            ShardMember.bus(options.member()),
            RAFT.channel());
    crashes = detector;
    detector.open();
    links.watchEnds(watcher);
    links.offer(ENTRY_SERVICE, created);
    return log;
  }

  /** Takes note of the address of a member's bus, which has changed. */
  void learn(String member, InetSocketAddress address) {
    peers.learn(member, address);
  }

  private void ended(LinkPeer peer) {
    EntryReceiver open = receiver;
    if (open != null && peer.channel().equals(ENTRY_CHANNEL)) {
      try {
        open.ended(peer);
      } catch (RejectedExecutionException e) {
        LOG.debug("This bus ends", e);
      }
    }
  }

  /** Takes note that a member leads. */
  void leaderChanged(String member) {
    EntrySender open = sender;
    if (open != null) {
      open.leaderChanged(member);
    }
  }

  @Override
  public @Nullable String leader() {
    RatisGroup started = group;
    return started == null ? null : started.leader();
  }

  @Override
  public CompletableFuture<?> connect(String member) {
    InetSocketAddress address = peers.find(member);
    return address == null ? unknown(member) : links.peer(address, ENTRY_CHANNEL);
  }

  @Override
  public CompletableFuture<byte[]> call(String member, byte[] request) {
    InetSocketAddress address = peers.find(member);
    return address == null
        ? unknown(member)
        : links.call(address, ENTRY_CHANNEL, ENTRY_SERVICE, request, EntrySender.CALL_TIMEOUT);
  }

  /** Answers questions of other replicas, and sends them copies. */
  void offer(CopySource source) {
    links.offer(COPY_SERVICE, source);
  }

  /** Asks for the state of a member. */
  CompletableFuture<byte[]> ask(String member, byte[] question) {
    InetSocketAddress address = peers.find(member);
    return address == null ? unknown(member) : ask(links, address, question, STATE_TIMEOUT);
  }

  /** Asks what {@link CopySource} answers, also while there is no replica here. */
  static CompletableFuture<byte[]> ask(
      LinkNode links, InetSocketAddress address, byte[] question, Duration timeout) {
    return links.call(address, COPY_CHANNEL, COPY_SERVICE, question, timeout);
  }

  private static <T> CompletableFuture<T> unknown(String member) {
    return CompletableFuture.failedFuture(
        new IllegalStateException("member " + member + ": no address is known"));
  }

  /** Takes and sends no entries any more. */
  @Override
  public void close() {
    links.withdraw(COPY_SERVICE);
    links.withdraw(ENTRY_SERVICE);
    links.unwatchEnds(watcher);
    LeaderCrashDetector watching = crashes;
    if (watching != null) {
      watching.close();
    }
    EntrySender open = sender;
    if (open != null) {
      open.close();
    }
  }
}
