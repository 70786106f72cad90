package io.eventbus.raft;

import io.eventbus.link.DedicatedLoop;
import io.eventbus.link.LinkNode;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.StateMachine;

/** Ratis of this bus, with the group that it begins with. Any thread may call any method. */
public final class RatisServer implements AutoCloseable {
  private static final Duration SNAPSHOT_DEADLINE = Duration.ofSeconds(10);

  /**
   * Part that this bus plays.
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
   * Description of a group.
   *
   * @param logFailed whether its log could not be written, as the state machine was told
   * @param founder true if this bus begins the group: the only voter. Otherwise it is a listener
   *     until the log, its own or the leader's, says its role; a bus that is none would not answer
   *     to votes while it waits
   * @param fresh true if its files are to be created; existing files must be of no worth
   */
  public record Group(
      UUID id, StateMachine machine, BooleanSupplier logFailed, boolean founder, boolean fresh) {}

  private final RaftServer server;
  private final RatisGroup group;

  private RatisServer(RaftServer server, RatisGroup group) {
    this.server = server;
    this.group = group;
  }

  /** Starts Ratis with one group. */
  public static RatisServer start(Options options, Wiring wiring, Group group) throws IOException {
    RaftPeerId self = RaftPeerId.valueOf(options.self());
    RaftGroupId id = RaftGroupId.valueOf(group.id());
    RaftPeer.Builder peer = RaftPeer.newBuilder(RatisGroup.peer(options.self(), options.address()));
    if (!group.founder()) {
      peer.setStartupRole(RaftPeerRole.LISTENER);
    }
    RaftTransport transport =
        new RaftTransport(
            wiring.links(),
            wiring.peers(),
            Objects.requireNonNull(PeerBook.parse(options.address()), "address"),
            options.electionTimeoutMin(),
            SNAPSHOT_DEADLINE,
            wiring.workers(),
            wiring.raftLoop());
    LeaderContact contact = new LeaderContact(System::nanoTime);
    transport.admit(id, new DurableAckGuard(group.logFailed()), contact);
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(RaftGroup.valueOf(id, List.of(peer.build())))
            .setOption(group.fresh() ? StartupOption.FORMAT : StartupOption.RECOVER)
            .setProperties(RaftSettings.of(options))
            .setParameters(LinkRpcType.parameters(transport))
            .setStateMachineRegistry(asked -> machine(group, asked))
            .build();
    try {
      server.start();
      return new RatisServer(
          server, new RatisGroup(server, id, self, contact, wiring.calls(), wiring.raftLoop()));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Returns the state machine of a group; each has its own. */
  private static StateMachine machine(Group group, RaftGroupId asked) {
    if (!asked.getUuid().equals(group.id())) {
      throw new IllegalArgumentException("group: " + asked + " (expected: " + group.id() + ")");
    }
    return group.machine();
  }

  /** Returns the group that it was started with. */
  public RatisGroup group() {
    return group;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
