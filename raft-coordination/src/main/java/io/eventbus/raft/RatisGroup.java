package io.eventbus.raft;

import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.AbortedReconfiguration;
import io.eventbus.raft.repair.DirectSubmission;
import io.eventbus.raft.repair.EarlyElection;
import io.eventbus.raft.repair.LeaderContact;
import io.eventbus.raft.repair.LeaderCrashDetector;
import io.eventbus.raft.repair.VoterChanges;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * Raft group of this bus. Any thread may call any method.
 *
 * <p>Ratis waits for its own locks in methods that look asynchronous, and completes futures while
 * it holds them. So every call that may wait is made on the executor, and every future is completed
 * there, those of {@link #submit} apart: they begin on the thread of the links, where they take the
 * group's lock for a short while, and code that depends on them must neither wait nor call Ratis
 * other than through here.
 */
public final class RatisGroup
    implements LeaderCrashDetector.Raft, VoterChanges.Group, AbortedReconfiguration.Group {
  /** Timeout of one change of the members: a bus that is admitted gets a snapshot first. */
  private static final int CHANGE_TIMEOUT_SECONDS = 60;

  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftPeerId self;
  private final LeaderContact contact;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();

  /** Number of changes of the members that are under way and were asked for here. */
  private final AtomicInteger changes = new AtomicInteger();

  private final Executor executor;
  private final Executor raftLoop;

  /**
   * Creates a group of a server that runs.
   *
   * @param executor for calls that may wait
   * @param raftLoop begins the calls of {@link #submit}, one after the other
   */
  public RatisGroup(
      RaftServer server,
      RaftGroupId group,
      RaftPeerId self,
      LeaderContact contact,
      Executor executor,
      Executor raftLoop) {
    this.server = server;
    this.group = group;
    this.self = self;
    this.contact = contact;
    this.executor = executor;
    this.raftLoop = raftLoop;
  }

  /** Returns a member at an address, {@code host:port}. */
  public static RaftPeer peer(String bus, String address) {
    return RaftPeer.newBuilder().setId(bus).setAddress(address).build();
  }

  /**
   * Replicates a message, at the leader; the future has the answer of the state machine.
   *
   * <p>The call begins on the thread of the links, and is completed where Ratis does it: each
   * change of threads costs more than the work.
   */
  public CompletableFuture<Message> submit(Message message) {
    return CompletableFuture.completedFuture(request(message))
        .thenComposeAsync(RatisGroup::make, raftLoop)
        .thenCompose(RatisGroup::checked)
        .thenApply(RaftClientReply::getMessage);
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
    return () -> DirectSubmission.of(server, group).submitClientRequestAsync(request);
  }

  private interface Call {
    CompletableFuture<RaftClientReply> make() throws IOException;
  }

  private CompletableFuture<RaftClientReply> call(Call call) {
    return made(call)
        .thenComposeAsync(RatisGroup::checked, executor)
        .whenCompleteAsync((reply, error) -> {}, executor);
  }

  private CompletableFuture<RaftClientReply> made(Call call) {
    return CompletableFuture.completedFuture(call).thenComposeAsync(RatisGroup::make, executor);
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
                : new IOException("Ratis gave no answer"));
  }

  /** Changes voters and listeners, if they are still the current ones. */
  @Override
  public CompletableFuture<Void> change(RaftMembers current, RaftMembers next) {
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
    // Ratis waits for a member that is not there for as long as this bus leads.
    return call(() -> server.setConfigurationAsync(request))
        .orTimeout(CHANGE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .whenCompleteAsync((reply, error) -> changes.decrementAndGet(), executor)
        .thenAccept(reply -> {});
  }

  /** Hands the leadership over to another voter. */
  public CompletableFuture<Void> transferLeadership(String bus, long timeoutMillis) {
    return giveUpLeadership(RaftPeerId.valueOf(bus), timeoutMillis);
  }

  /** Ends this bus's leadership; the voters choose the next leader, which may be this bus again. */
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
   * Takes a snapshot here, and returns the index up to which it goes.
   *
   * @param entries minimum number of log entries since the last one; with fewer of them that one
   *     will do
   */
  public CompletableFuture<Long> takeSnapshot(long timeoutMillis, int entries) {
    SnapshotManagementRequest request =
        SnapshotManagementRequest.newCreate(
            client, self, group, calls.incrementAndGet(), timeoutMillis, entries);
    return call(() -> server.snapshotManagementAsync(request))
        .thenApply(RaftClientReply::getLogIndex);
  }

  @Override
  public CompletableFuture<Boolean> standForElection(String leader) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return EarlyElection.stand(server, group, self, RaftPeerId.valueOf(leader));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        executor);
  }

  /** Returns the state of the log here; null if the group has ended. */
  public @Nullable GroupLog log() {
    try {
      return GroupLog.of(server.getDivision(group));
    } catch (IOException | IllegalStateException e) {
      return null;
    }
  }

  /** Returns the index up to which each member is known to know that the log is committed. */
  public Map<String, Long> positions() {
    try {
      return GroupLog.committed(server.getDivision(group));
    } catch (IOException e) {
      return Map.of();
    }
  }

  @Override
  public RaftMembers members() {
    try {
      RaftConfiguration now = server.getDivision(group).getRaftConf();
      return new RaftMembers(
          new ArrayList<>(now.getAllPeers(RaftPeerRole.FOLLOWER)),
          new ArrayList<>(now.getAllPeers(RaftPeerRole.LISTENER)));
    } catch (IOException e) {
      return RaftMembers.NONE;
    }
  }

  /** Returns whether a change of the members is under way, as far as this bus knows. */
  public boolean isChanging(long appliedIndex) {
    try {
      return isChangingMembers()
          || server.getDivision(group).getRaftConf().getLogEntryIndex() > appliedIndex;
    } catch (IOException e) {
      return true;
    }
  }

  /**
   * Returns whether members before and after a change count at present, as far as this bus knows.
   */
  public boolean isChangingMembers() {
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

  /** Returns the leader that this bus knows, null for none. */
  @Override
  public @Nullable String leader() {
    try {
      RaftPeerId leader = server.getDivision(group).getInfo().getLeaderId();
      return leader == null ? null : leader.toString();
    } catch (IOException e) {
      return null;
    }
  }

  /** Returns whether this bus leads, and has applied what was committed before. */
  public boolean isLeaderReady() {
    try {
      return server.getDivision(group).getInfo().isLeaderReady();
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the current term; -1 if the group has ended. */
  public long term() {
    try {
      return server.getDivision(group).getInfo().getCurrentTerm();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Returns the time since the leader was heard from, in milliseconds; -1 if there is none. */
  @Override
  public long leaderSilenceMillis() {
    String leader = leader();
    if (leader == null) {
      return -1;
    }
    if (leader.equals(self.toString())) {
      // The next leader is heard from as of the end of this one.
      contact.heard(contact.now());
    }
    return contact.silenceMillis();
  }

  /** Returns, at the leader, the time since each of the others was heard from, in milliseconds. */
  @Override
  public Map<String, Long> followerSilenceMillis() {
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
   * Returns whether the leader here still sends to a bus that is no member, while none is being
   * admitted.
   *
   * <p>That is so for good after a change that was cut short, see {@link AbortedReconfiguration}.
   */
  @Override
  public boolean servesStrangers() {
    // In this order: a bus that is admitted meanwhile is served first and a member later.
    Set<String> served = followerSilenceMillis().keySet();
    if (changes.get() != 0 || isChanging(Long.MAX_VALUE)) {
      return false;
    }
    RaftMembers now = members();
    return served.stream().anyMatch(bus -> !now.contains(bus));
  }

  /** Returns the members after a change that is under way, as far as this bus knows. */
  public RaftMembers nextMembers() {
    try {
      RaftConfiguration now = server.getDivision(group).getRaftConf();
      return new RaftMembers(
          new ArrayList<>(now.getCurrentPeers(RaftPeerRole.FOLLOWER)),
          new ArrayList<>(now.getCurrentPeers(RaftPeerRole.LISTENER)));
    } catch (IOException e) {
      return RaftMembers.NONE;
    }
  }

  /** Returns the index of the entry that has stated the members; -1 for none. */
  public long configured() {
    try {
      return server.getDivision(group).getRaftConf().getLogEntryIndex();
    } catch (IOException e) {
      return -1;
    }
  }

  /**
   * Returns whether the members were changed without this bus, as far as it knows: a bus that is
   * taken out is told of the change, and not of its end.
   */
  public boolean isTakenOut() {
    // Before the first entry of the log has said who the members are, this bus only waits.
    return configured() >= 0 && !nextMembers().contains(self.toString());
  }

  /** Returns the ids of all members. */
  public List<String> memberIds() {
    RaftMembers now = members();
    List<String> ids = new ArrayList<>(now.voterIds());
    ids.addAll(now.listenerIds());
    return ids;
  }

  /** Returns the index up to which the log is known to be committed here; -1 for none. */
  public long committed() {
    try {
      return server.getDivision(group).getRaftLog().getLastCommittedIndex();
    } catch (IOException | IllegalStateException e) {
      return -1;
    }
  }

  /** Returns the index of the first entry that is in the log here; -1 for none. */
  public long logBegin() {
    try {
      return server.getDivision(group).getRaftLog().getStartIndex();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Returns the index of the next entry of the log here; -1 if the group has ended. */
  public long logEnd() {
    try {
      return server.getDivision(group).getRaftLog().getNextIndex();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Returns whether Ratis has closed the group, and released its files. */
  public boolean isClosed() {
    try {
      return server.getDivision(group).getInfo().getLifeCycleState() == LifeCycle.State.CLOSED;
    } catch (IOException e) {
      return true;
    }
  }

  /** Returns whether Ratis still runs the group. */
  public boolean isAlive() {
    try {
      LifeCycle.State state = server.getDivision(group).getInfo().getLifeCycleState();
      return !state.isClosingOrClosed() && state != LifeCycle.State.EXCEPTION;
    } catch (IOException e) {
      return false;
    }
  }
}
