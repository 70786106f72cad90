package io.eventbus.raft;

import io.eventbus.link.DedicatedLoop;
import io.eventbus.link.LinkNode;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import io.eventbus.raft.repair.LogCacheEviction;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.StateMachine;
import org.jspecify.annotations.Nullable;

/** Ratis of this bus, with the group that it begins with. Any thread may call any method. */
public final class RatisServer implements AutoCloseable {
  private static final Duration SNAPSHOT_TIMEOUT = Duration.ofSeconds(10);

  /** Delay well below the time that a person notices. */
  private static final Duration COMMIT_DELAY = Duration.ofMillis(10);

  /**
   * Part that this bus plays in a group that others join.
   *
   * @param address where the links of this bus are reached, as {@code host:port}
   * @param snapshotEntries number of entries of a log after which a snapshot is taken
   */
  public record Options(
      String self,
      String address,
      Path directory,
      Duration electionTimeoutMin,
      Duration electionTimeoutMax,
      int snapshotEntries) {}

  /**
   * Resources of the server.
   *
   * @param peers addresses of other buses
   * @param workers answer other buses; they may wait
   * @param calls make the calls that may wait, and complete their futures
   */
  public record Wiring(
      LinkNode links,
      DedicatedLoop raftLoop,
      PeerBook peers,
      ExecutorService workers,
      Executor calls) {}

  /**
   * Description of a group that others join.
   *
   * @param logFailed whether its log could not be written, as the state machine was told
   * @param founder true if this bus begins the group: the only voter. Otherwise it is a listener
   *     until the log, its own or the leader's, says its role; a bus that is none would not answer
   *     to votes while it waits
   * @param fresh true if its files are to be created; existing files must be of no worth
   */
  public record Group(
      UUID id, StateMachine machine, BooleanSupplier logFailed, boolean founder, boolean fresh) {}

  /**
   * Settings of a server, whatever its group is for.
   *
   * @param address where the links of this bus are reached, as {@code host:port}
   * @param properties settings of Ratis; the type of its transport is set here
   */
  public record Settings(
      String self, String address, RaftProperties properties, TransportSettings transport) {}

  /**
   * Replica of a group.
   *
   * @param logFailed whether its log could not be written, as the state machine was told
   * @param peers members with which a group begins that has no log, this bus among them
   * @param startup whether files are created
   * @param check the check of the log that was read, before anything is sent or answered; null for
   *     none
   * @param behind told where the leader's log begins, if the log here has not got so far
   */
  public record Replica(
      UUID id,
      StateMachine machine,
      BooleanSupplier logFailed,
      List<RaftPeer> peers,
      StartupOption startup,
      @Nullable LogCheck check,
      LongConsumer behind) {}

  /** Check of the log of a replica. */
  public interface LogCheck {
    /** Checks; the server does not start if it throws. */
    void check(RaftLog log) throws IOException;
  }

  private final RaftServer server;
  private final RatisGroup group;

  private RatisServer(RaftServer server, RatisGroup group) {
    this.server = server;
    this.group = group;
  }

  /** Starts Ratis with one group, whose only founder begins it alone. */
  public static RatisServer start(Options options, Wiring wiring, Group group) throws IOException {
    RaftPeer.Builder peer = RaftPeer.newBuilder(RatisGroup.peer(options.self(), options.address()));
    if (!group.founder()) {
      peer.setStartupRole(RaftPeerRole.LISTENER);
    }
    return start(
        new Settings(
            options.self(),
            options.address(),
            RaftSettings.of(options),
            new TransportSettings(
                RaftServices.DEFAULT,
                "the registry's log",
                options.electionTimeoutMin(),
                TransportSettings.FIRST_ENTRIES,
                SNAPSHOT_TIMEOUT,
                COMMIT_DELAY)),
        wiring,
        new Replica(
            group.id(),
            group.machine(),
            group.logFailed(),
            List.of(peer.build()),
            group.fresh() ? StartupOption.FORMAT : StartupOption.RECOVER,
            null,
            begin -> {}));
  }

  /** Starts Ratis with one group. */
  public static RatisServer start(Settings settings, Wiring wiring, Replica replica)
      throws IOException {
    RaftPeerId self = RaftPeerId.valueOf(settings.self());
    RaftGroupId id = RaftGroupId.valueOf(replica.id());
    RaftTransport transport =
        new RaftTransport(
            wiring.links(),
            wiring.peers(),
            Objects.requireNonNull(PeerBook.parse(settings.address()), "address"),
            settings.transport(),
            wiring.workers(),
            wiring.raftLoop());
    LeaderContact contact = new LeaderContact(System::nanoTime);
    transport.admit(self, id, new DurableAckGuard(replica.logFailed()), contact, replica.behind());
    LogCheck check = replica.check();
    if (check != null) {
      transport.hold(started -> check.check(started.getDivision(id).getRaftLog()));
    }
    RaftProperties properties = settings.properties();
    RaftConfigKeys.Rpc.setType(properties, new LinkRpcType());
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(RaftGroup.valueOf(id, replica.peers()))
            .setOption(replica.startup())
            .setProperties(properties)
            .setParameters(LinkRpcType.parameters(transport))
            .setStateMachineRegistry(asked -> machine(replica, asked))
            .build();
    try {
      server.start();
      return new RatisServer(
          server, new RatisGroup(server, id, self, contact, wiring.calls(), wiring.raftLoop()));
    } catch (IOException | RuntimeException e) {
      LogCacheEviction.endAndClose(server);
      throw e;
    }
  }

  /** Returns the state machine of a group; each has its own. */
  private static StateMachine machine(Replica replica, RaftGroupId asked) {
    if (!asked.getUuid().equals(replica.id())) {
      throw new IllegalArgumentException("group: " + asked + " (expected: " + replica.id() + ")");
    }
    return replica.machine();
  }

  /** Returns the group that it was started with. */
  public RatisGroup group() {
    return group;
  }

  @Override
  public void close() throws IOException {
    LogCacheEviction.endAndClose(server);
  }
}
