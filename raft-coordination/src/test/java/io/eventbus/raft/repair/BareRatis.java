package io.eventbus.raft.repair;

import static io.eventbus.raft.Fake.fake;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.TimeDuration;

/**
 * Server of Ratis alone, which the test sends messages to; its own messages are lost, or go to
 * others that the test plays.
 */
final class BareRatis implements AutoCloseable {
  static final String SELF = "a";
  private static final String OTHERS = "others";
  static final RaftGroupId GROUP = RaftGroupId.randomId();

  private final RaftServer server;
  private final Queue<Thread> submitters;
  private boolean abandoned;

  private BareRatis(RaftServer server, Queue<Thread> submitters) {
    this.server = server;
    this.submitters = submitters;
  }

  static BareRatis follower(Path directory, int timeoutMillis) throws IOException {
    return start(
        directory,
        timeoutMillis,
        List.of(
            peer(SELF, RaftPeerRole.FOLLOWER),
            peer("b", RaftPeerRole.FOLLOWER),
            peer("c", RaftPeerRole.FOLLOWER)));
  }

  /** Creates a follower of a group whose other servers are played. */
  static BareRatis among(Path directory, int timeoutMillis, PlayedServers others, String... voters)
      throws IOException {
    List<RaftPeer> peers = new ArrayList<>(List.of(peer(SELF, RaftPeerRole.FOLLOWER)));
    for (String voter : voters) {
      peers.add(peer(voter, RaftPeerRole.FOLLOWER));
    }
    return start(directory, timeoutMillis, peers, others);
  }

  static BareRatis listener(Path directory, int timeoutMillis) throws IOException {
    return start(
        directory,
        timeoutMillis,
        List.of(
            peer(SELF, RaftPeerRole.LISTENER),
            peer("b", RaftPeerRole.FOLLOWER),
            peer("c", RaftPeerRole.FOLLOWER)));
  }

  /** Starts again what {@link #listener} has left. */
  static BareRatis restart(Path directory, int timeoutMillis) throws IOException {
    return start(
        directory,
        timeoutMillis,
        List.of(peer(SELF, RaftPeerRole.LISTENER)),
        new PlayedServers().cut(),
        RaftStorage.StartupOption.RECOVER);
  }

  static BareRatis leader(Path directory, int timeoutMillis)
      throws IOException, InterruptedException {
    BareRatis alone = start(directory, timeoutMillis, List.of(peer(SELF, RaftPeerRole.FOLLOWER)));
    RatisFaultsTest.until(() -> isReady(alone));
    return alone;
  }

  private static boolean isReady(BareRatis alone) {
    try {
      return alone.division().getInfo().isLeaderReady();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static BareRatis start(Path directory, int timeoutMillis, List<RaftPeer> peers)
      throws IOException {
    return start(directory, timeoutMillis, peers, new PlayedServers().cut());
  }

  private static BareRatis start(
      Path directory, int timeoutMillis, List<RaftPeer> peers, PlayedServers others)
      throws IOException {
    return start(directory, timeoutMillis, peers, others, RaftStorage.StartupOption.FORMAT);
  }

  private static BareRatis start(
      Path directory,
      int timeoutMillis,
      List<RaftPeer> peers,
      PlayedServers others,
      RaftStorage.StartupOption option)
      throws IOException {
    Parameters parameters = new Parameters();
    parameters.put(OTHERS, others, PlayedServers.class);
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, new NoRpc());
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.resolve("storage").toFile()));
    TimeDuration timeout = TimeDuration.valueOf(timeoutMillis, TimeUnit.MILLISECONDS);
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, timeout);
    RaftServerConfigKeys.Rpc.setTimeoutMax(
        properties, TimeDuration.valueOf(2L * timeoutMillis, TimeUnit.MILLISECONDS));
    RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    // As in this project: composing entries hides one of the faults, metadata another one.
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
    RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
    Queue<Thread> submitters = new ConcurrentLinkedQueue<>();
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(RaftPeerId.valueOf(SELF))
            .setGroup(RaftGroup.valueOf(GROUP, peers))
            .setOption(option)
            .setProperties(properties)
            .setParameters(parameters)
            .setStateMachine(new Machine(submitters))
            .build();
    server.start();
    return new BareRatis(server, submitters);
  }

  static RaftPeer peer(String id, RaftPeerRole role) {
    return RaftPeer.newBuilder().setId(id).setAddress("127.0.0.1:1").setStartupRole(role).build();
  }

  /** Makes it the leader, in the place of the one that has sent it the entries that it has. */
  void stand(String leader) throws IOException, InterruptedException {
    RatisFaultsTest.until(() -> hasLeader(leader));
    assertThat(
            EarlyElection.stand(
                server, GROUP, RaftPeerId.valueOf(SELF), RaftPeerId.valueOf(leader)))
        .isTrue();
  }

  private boolean hasLeader(String leader) {
    try {
      return RaftPeerId.valueOf(leader).equals(division().getInfo().getLeaderId());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static RaftRpcRequestProto head(String from) {
    return RaftRpcRequestProto.newBuilder()
        .setRequestorId(RaftPeerId.valueOf(from).toByteString())
        .setReplyId(RaftPeerId.valueOf(SELF).toByteString())
        .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString()))
        .build();
  }

  RaftServer server() {
    return server;
  }

  RaftServer.Division division() throws IOException {
    return server.getDivision(GROUP);
  }

  /** Returns the threads on which client's requests reached the group. */
  List<Thread> submitters() {
    return List.copyOf(submitters);
  }

  /** Abandons it, because it is in a deadlock and would not close. */
  void abandon() {
    abandoned = true;
  }

  @Override
  public void close() throws IOException {
    if (!abandoned) {
      server.close();
    }
  }

  /** State machine of nothing. */
  private static final class Machine extends BaseStateMachine {
    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
    private final Queue<Thread> submitters;

    Machine(Queue<Thread> submitters) {
      this.submitters = submitters;
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
        throws IOException {
      super.initialize(server, group, raftStorage);
      storage.init(raftStorage);
      getLifeCycle().startAndTransition(() -> {});
    }

    @Override
    public void pause() {
      getLifeCycle().transition(LifeCycle.State.PAUSING);
      getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    @Override
    public void reinitialize() {
      getLifeCycle().startAndTransition(() -> {});
    }

    @Override
    public SimpleStateMachineStorage getStateMachineStorage() {
      return storage;
    }

    @Override
    public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
      submitters.add(Thread.currentThread());
      return super.startTransaction(request);
    }

    @Override
    public CompletableFuture<Message> query(Message request) {
      return CompletableFuture.completedFuture(Message.EMPTY);
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
      LogEntryProto entry = Objects.requireNonNull(transaction.getLogEntry());
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
      return CompletableFuture.completedFuture(Message.EMPTY);
    }
  }

  /** RPC type of which Ratis makes an instance itself. */
  public static final class NoRpc implements RpcType {
    @Override
    public String name() {
      return NoRpc.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
      PlayedServers others = parameters.get(OTHERS, PlayedServers.class);
      return new ServerFactory() {
        @Override
        public RpcType getRpcType() {
          return NoRpc.this;
        }

        @Override
        public RaftServerRpc newRaftServerRpc(RaftServer server) {
          return fake(
              RaftServerRpc.class,
              (method, arguments) ->
                  switch (method) {
                    case "start", "close", "addRaftPeers", "notifyNotLeader" -> null;
                    case "getRpcType" -> NoRpc.this;
                    case "getInetSocketAddress",
                        "getClientServerAddress",
                        "getAdminServerAddress" ->
                        null;
                    default -> others.answer(method, arguments);
                  });
        }
      };
    }
  }
}
