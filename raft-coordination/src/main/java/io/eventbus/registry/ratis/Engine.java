package io.eventbus.registry.ratis;

import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.state.TimedCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * The engine of this bus, for one cluster. Any thread may call any method.
 *
 * <p>The engine waits for its own locks in what looks asynchronous, and completes futures while it
 * holds them. So every call that may wait is made on the executor, and every future is completed
 * there, those of {@link #propose} apart: they begin on the thread of the links, where they take
 * the engine's lock for a short while, and what depends on them must neither wait nor call the
 * engine other than through here.
 */
final class Engine implements AutoCloseable, FallenLeader.Raft, LeaderDuties.Raft {
  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftPeerId self;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();

  /** Changes of the members that are under way and were asked for here. */
  private final AtomicInteger changes = new AtomicInteger();

  private final Executor executor;
  private final Executor quick;

  private Engine(
      RaftServer server, RaftGroupId group, RaftPeerId self, Executor executor, Executor quick) {
    this.server = server;
    this.group = group;
    this.self = self;
    this.executor = executor;
    this.quick = quick;
  }

  /**
   * Starts the engine.
   *
   * @param founder true if this bus begins the cluster: the only voter. Otherwise it is a listener
   *     until the log, its own or the leader's, says what it is; a bus that is none would not
   *     answer to votes while it waits
   * @param fresh true if the directory is to be made; what is there must be nothing of worth
   * @param executor for calls that may wait
   * @param quick for commands
   */
  static Engine start(
      RatisRegistryOptions options,
      RaftProperties properties,
      UUID cluster,
      boolean founder,
      boolean fresh,
      RaftTransport transport,
      RegistryStateMachine machine,
      Executor executor,
      Executor quick)
      throws IOException {
    RaftPeerId self = RaftPeerId.valueOf(options.bus().value());
    RaftGroupId id = RaftGroupId.valueOf(cluster);
    RaftPeer.Builder peer = RaftPeer.newBuilder(peer(options.bus().value(), options.advertised()));
    if (!founder) {
      peer.setStartupRole(RaftPeerRole.LISTENER);
    }
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(RaftGroup.valueOf(id, List.of(peer.build())))
            .setOption(fresh ? StartupOption.FORMAT : StartupOption.RECOVER)
            .setProperties(properties)
            .setParameters(LinkRpcType.parameters(transport))
            .setStateMachine(machine)
            .build();
    try {
      server.start();
      return new Engine(server, id, self, executor, quick);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  static RaftPeer peer(String bus, Endpoint address) {
    return RaftPeer.newBuilder().setId(bus).setAddress(address.toString()).build();
  }

  CompletableFuture<List<CommandResult>> propose(List<TimedCommand> batch) {
    // Begun on the thread of the links, completed where the engine does it: each change of threads
    // costs more than the work.
    Call call = request(BatchMessage.of(batch));
    return CompletableFuture.completedFuture(call)
        .thenComposeAsync(Engine::make, quick)
        .thenCompose(Engine::checked)
        .thenApply(reply -> ((ResultsMessage) reply.getMessage()).results());
  }

  private Call request(Message message) {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(self)
            .setGroupId(group)
            .setCallId(calls.incrementAndGet())
            .setMessage(message)
            .setType(RaftClientRequest.writeRequestType())
            .build();
    return () -> entrance().submitClientRequestAsync(request);
  }

  /**
   * Where commands go in. The engine's front hands each to a thread of its own and waits for what
   * that one does; the group behind it does the same without.
   */
  private RaftClientAsynchronousProtocol entrance() throws IOException {
    return server.getDivision(group) instanceof RaftClientAsynchronousProtocol behind
        ? behind
        : server;
  }

  private interface Call {
    CompletableFuture<RaftClientReply> make() throws IOException;
  }

  private CompletableFuture<RaftClientReply> call(Call call) {
    return made(call)
        .thenComposeAsync(Engine::checked, executor)
        .whenCompleteAsync((reply, error) -> {}, executor);
  }

  private CompletableFuture<RaftClientReply> made(Call call) {
    return CompletableFuture.completedFuture(call).thenComposeAsync(Engine::make, executor);
  }

  private static CompletableFuture<RaftClientReply> make(Call call) {
    try {
      return call.make();
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static CompletableFuture<RaftClientReply> checked(RaftClientReply reply) {
    return reply.isSuccess()
        ? CompletableFuture.completedFuture(reply)
        : CompletableFuture.failedFuture(
            reply.getException() != null
                ? reply.getException()
                : new IOException("the engine gave no answer"));
  }

  /**
   * Changes who votes and who listens, if nobody has changed it meanwhile.
   *
   * @param current the members that the change is based on
   * @param next the members that there are to be
   */
  CompletableFuture<Void> change(Members current, Members next) {
    SetConfigurationRequest.Arguments arguments =
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInCurrentConf(current.voters())
            .setListenersInCurrentConf(current.listeners())
            .setServersInNewConf(next.voters())
            .setListenersInNewConf(next.listeners())
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .build();
    SetConfigurationRequest request =
        new SetConfigurationRequest(client, self, group, calls.incrementAndGet(), arguments);
    changes.incrementAndGet();
    return call(() -> server.setConfigurationAsync(request))
        .whenComplete((reply, error) -> changes.decrementAndGet())
        .thenAccept(reply -> {});
  }

  @Override
  public CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis) {
    return giveUpLeadership(RaftPeerId.valueOf(bus), timeoutMillis);
  }

  @Override
  public CompletableFuture<Void> change(Members members, VoterPolicy.Step step) {
    return VoterChanges.apply(this, members, step);
  }

  /** Leads no more; who does next, perhaps this bus again, is for the voters to say. */
  @Override
  public CompletableFuture<Void> stepDown(long timeoutMillis) {
    return giveUpLeadership(null, timeoutMillis);
  }

  private CompletableFuture<Void> giveUpLeadership(@Nullable RaftPeerId next, long timeoutMillis) {
    TransferLeadershipRequest request =
        new TransferLeadershipRequest(
            client, self, group, calls.incrementAndGet(), next, timeoutMillis);
    return call(() -> server.transferLeadershipAsync(request)).thenAccept(reply -> {});
  }

  /**
   * Takes a snapshot here, and says up to where it goes.
   *
   * @param entries how many log entries there must be since the last one; with fewer of them that
   *     one will do
   */
  CompletableFuture<Long> takeSnapshot(long timeoutMillis, int entries) {
    SnapshotManagementRequest request =
        SnapshotManagementRequest.newCreate(
            client, self, group, calls.incrementAndGet(), timeoutMillis, entries);
    return call(() -> server.snapshotManagementAsync(request))
        .thenApply(RaftClientReply::getLogIndex);
  }

  /**
   * Makes this bus stand for election at once, as if the leader had asked for it. Nothing happens
   * if another leader is known meanwhile, or if this log does not reach into the leader's term.
   *
   * @param leader the leader whose process is gone
   * @return a future with whether the engine stands
   */
  @Override
  public CompletableFuture<Boolean> standForElection(String leader) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            TermIndex last = server.getDivision(group).getRaftLog().getLastEntryTermIndex();
            return last != null
                && leader.equals(leader())
                && server
                    .startLeaderElection(
                        StartLeaderElectionRequestProto.newBuilder()
                            .setServerRequest(
                                RaftRpcRequestProto.newBuilder()
                                    .setRequestorId(RaftPeerId.valueOf(leader).toByteString())
                                    .setReplyId(self.toByteString())
                                    .setRaftGroupId(
                                        RaftGroupIdProto.newBuilder().setId(group.toByteString())))
                            .setLeaderLastEntry(last.toProto())
                            .build())
                    .getServerReply()
                    .getSuccess();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        executor);
  }

  /** What can be told of the log here. */
  RegistryStatus.Log log() {
    try {
      return EngineLog.of(server.getDivision(group));
    } catch (IOException | IllegalStateException e) {
      return RegistryStatus.Log.NONE;
    }
  }

  /** Up to where of the log each member is known to be. */
  Map<String, Long> positions() {
    try {
      return EngineLog.committed(server.getDivision(group));
    } catch (IOException e) {
      return Map.of();
    }
  }

  @Override
  public Members members() {
    try {
      RaftConfiguration now = server.getDivision(group).getRaftConf();
      return new Members(
          new ArrayList<>(now.getAllPeers(RaftPeerRole.FOLLOWER)),
          new ArrayList<>(now.getAllPeers(RaftPeerRole.LISTENER)));
    } catch (IOException e) {
      return Members.NONE;
    }
  }

  /** Whether a change of the members is under way, as far as this bus knows. */
  boolean isChanging(long appliedIndex) {
    try {
      return isChangingMembers()
          || server.getDivision(group).getRaftConf().getLogEntryIndex() > appliedIndex;
    } catch (IOException e) {
      return true;
    }
  }

  /** Whether members before and after a change count at present, as far as this bus knows. */
  boolean isChangingMembers() {
    try {
      RaftConfiguration now = server.getDivision(group).getRaftConf();
      return !now.getPreviousPeers(RaftPeerRole.FOLLOWER).isEmpty()
          || !now.getPreviousPeers(RaftPeerRole.LISTENER).isEmpty();
    } catch (IOException e) {
      return true;
    }
  }

  @Override
  public List<String> voters() {
    return members().voterIds();
  }

  /** The leader that this bus knows, null for none. */
  @Override
  public @Nullable String leader() {
    try {
      RaftPeerId leader = server.getDivision(group).getInfo().getLeaderId();
      return leader == null ? null : leader.toString();
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public boolean isLeaderReady() {
    try {
      return server.getDivision(group).getInfo().isLeaderReady();
    } catch (IOException e) {
      return false;
    }
  }

  long term() {
    try {
      return server.getDivision(group).getInfo().getCurrentTerm();
    } catch (IOException e) {
      return -1;
    }
  }

  /** How long ago the leader was heard of, in milliseconds; -1 if there is none. */
  @Override
  public long leaderSilenceMillis() {
    if (leader() == null) {
      return -1;
    }
    try {
      RoleInfoProto role = server.getDivision(group).getInfo().getRoleInfoProto();
      if (role.getRole() == RaftPeerRole.LEADER) {
        return 0;
      }
      return role.hasFollowerInfo() && role.getFollowerInfo().hasLeaderInfo()
          ? role.getFollowerInfo().getLeaderInfo().getLastRpcElapsedTimeMs()
          : -1;
    } catch (IOException e) {
      return -1;
    }
  }

  /** At the leader: how long ago each of the others was heard of, in milliseconds. */
  Map<String, Long> followerSilenceMillis() {
    Map<String, Long> silence = new TreeMap<>();
    try {
      RoleInfoProto role = server.getDivision(group).getInfo().getRoleInfoProto();
      if (role.hasLeaderInfo()) {
        for (ServerRpcProto follower : role.getLeaderInfo().getFollowerInfoList()) {
          silence.put(
              RaftPeerId.valueOf(follower.getId().getId()).toString(),
              follower.getLastRpcElapsedTimeMs());
        }
      }
    } catch (IOException e) {
      return Map.of();
    }
    return silence;
  }

  /**
   * Whether the leader here still sends to a bus that is no member, while nobody is being taken in.
   *
   * <p>That is so for good when it was elected while a change of the members was under way: it
   * began with the members before and after, ended the change itself, and let nobody go. It would
   * refuse to take such a bus in again, which it has already.
   */
  @Override
  public boolean servesStrangers() {
    // In this order: a bus that is taken in meanwhile is served first and a member later.
    Set<String> served = followerSilenceMillis().keySet();
    if (changes.get() != 0 || isChanging(Long.MAX_VALUE)) {
      return false;
    }
    Members now = members();
    return served.stream().anyMatch(bus -> !now.contains(bus));
  }

  boolean isAlive() {
    try {
      LifeCycle.State state = server.getDivision(group).getInfo().getLifeCycleState();
      return !state.isClosingOrClosed() && state != LifeCycle.State.EXCEPTION;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
