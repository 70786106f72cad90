package io.eventbus.journal.ratis;

import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.RatisServer;
import io.eventbus.raft.repair.LeaderContact;
import io.eventbus.raft.repair.LogCacheEviction;
import java.io.Closeable;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ratis with the group of a shard. Any thread may call any method. */
final class ShardRaft implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardRaft.class);

  private static final long HAND_OVER_MILLIS = 1_500;
  private static final long CLOSE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long CLOSE_POLL_MILLIS = 5;

  private final Closeable server;
  private final RatisGroup group;

  private ShardRaft(Closeable server, RatisGroup group) {
    this.server = server;
    this.group = group;
  }

  private static StartupOption startup(ShardDirectory directory) {
    return directory.isFresh() ? StartupOption.FORMAT : StartupOption.RECOVER;
  }

  /**
   * Starts the only voter of a group.
   *
   * @param check the check of its log
   * @param submitter hands entries to Ratis
   */
  static ShardRaft startAlone(
      ShardOptions options,
      ShardDirectory directory,
      ShardStateMachine machine,
      RatisServer.LogCheck check,
      Executor submitter)
      throws IOException {
    RaftPeerId self = RaftPeerId.valueOf(options.member());
    RaftGroupId id = RaftGroupId.valueOf(options.group());
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(RaftGroup.valueOf(id, List.of(RaftPeer.newBuilder().setId(self).build())))
            .setOption(startup(directory))
            .setProperties(ShardProperties.ofSingleVoter(directory.log()))
            .setStateMachineRegistry(asked -> machine)
            .build();
    try {
      server.start();
      check.check(server.getDivision(id).getRaftLog());
      return new ShardRaft(
          () -> LogCacheEviction.endAndClose(server),
          new RatisGroup(
              server, id, self, new LeaderContact(System::nanoTime), submitter, submitter));
    } catch (IOException | RuntimeException e) {
      close(server, machine);
      throw e;
    }
  }

  private static void close(RaftServer server, ShardStateMachine machine) throws IOException {
    // While the group closes no entry may be applied that could fail.
    boolean unused = machine.end();
    LogCacheEviction.endAndClose(server);
  }

  /**
   * Starts one member of several.
   *
   * @param check the check of its log, before it sends and answers anything
   * @param behind told where the leader's log begins, if the log here has not got so far
   */
  static ShardRaft startMember(
      ShardOptions options,
      ShardReplicas replicas,
      ShardDirectory directory,
      ShardStateMachine machine,
      RatisServer.LogCheck check,
      LongConsumer behind,
      RatisServer.Wiring wiring)
      throws IOException {
    ShardMember self = replicas.member(options.member());
    RatisServer server =
        RatisServer.start(
            new RatisServer.Settings(
                self.id(),
                self.address(),
                ShardProperties.ofReplica(directory.log(), options.tuning()),
                ShardNetwork.settings(options)),
            wiring,
            new RatisServer.Replica(
                options.group(),
                machine,
                machine::hasLogFailed,
                replicas.members().stream().map(ShardRaft::peer).toList(),
                startup(directory),
                check,
                behind));
    return new ShardRaft(server::close, server.group());
  }

  private static RaftPeer peer(ShardMember member) {
    return RaftPeer.newBuilder(RatisGroup.peer(member.id(), member.address()))
        .setStartupRole(member.voter() ? RaftPeerRole.FOLLOWER : RaftPeerRole.LISTENER)
        .build();
  }

  RatisGroup group() {
    return group;
  }

  /**
   * Hands the leadership over to a voter that has caught up, so that no election is needed.
   *
   * @return the next leader; null if none is present. The future may fail as Ratis does
   */
  CompletableFuture<@Nullable String> handOver(ShardOptions options) {
    Map<String, Long> positions = group.positions();
    Map<String, Long> silence = group.followerSilenceMillis();
    long alive = options.tuning().electionTimeoutMax().toMillis();
    String next =
        group.voters().stream()
            .filter(id -> !id.equals(options.member()))
            .filter(id -> silence.getOrDefault(id, Long.MAX_VALUE) < alive)
            .max(Comparator.comparing(id -> positions.getOrDefault(id, -1L)))
            .orElse(null);
    return next == null
        ? CompletableFuture.completedFuture(null)
        : group
            .transferLeadership(next, HAND_OVER_MILLIS)
            .orTimeout(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS)
            .thenApply(nothing -> next);
  }

  /** Hands the leadership over, if this bus leads, before it ends. */
  void leave(ShardOptions options) {
    if (!group.isLeaderReady()) {
      return;
    }
    try {
      String next = handOver(options).get();
      if (next != null) {
        LOG.info("{}: {} leads now", options.shown(), next);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      LOG.info("{}: the leadership was not handed over: {}", options.shown(), e.toString());
    }
  }

  /** Waits until Ratis has closed the group by itself, and released its files. */
  void awaitClosed() {
    long begun = System.nanoTime();
    while (!group.isClosed() && System.nanoTime() - begun < CLOSE_TIMEOUT_NANOS) {
      try {
        Thread.sleep(CLOSE_POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
