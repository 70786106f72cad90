package io.eventbus.raft;

import io.eventbus.link.DedicatedLoop;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import io.eventbus.raft.repair.ListenerPromotionGuard;
import io.eventbus.raft.repair.RedundantSnapshotReply;
import io.eventbus.raft.repair.ShutdownRequestFilter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Transport of the messages of Ratis, of all groups of a server, over the links between buses.
 *
 * <p>The transports that Ratis brings are not used: its Netty RPC has neither TLS nor
 * authentication and reads serialized Java objects; gRPC would be a second stack on a second port.
 * Ratis calls the four requests on threads of its own, which may wait; {@link LinkAppender} sends
 * without waiting.
 */
final class RaftTransport implements RaftServerRpc, FollowerRpc {
  /** Pause after a snapshot that was not accepted; on a thread for one follower. */
  private static final int SNAPSHOT_PAUSE_MILLIS = 200;

  /**
   * Minimum rate of about 4 Mbit/s: a follower behind a slower line never catches up. A follower
   * that the majority needs must be faster, for no heartbeat goes beside a message.
   */
  private static final int MIN_BYTES_PER_MILLI = 512;

  private final LinkNode links;
  private final PeerBook peers;
  private final InetSocketAddress address;
  private final TransportSettings settings;
  private final RaftServices services;
  private final Duration deadline;
  private final Duration firstEntries;

  /**
   * Threads that answer others: Ratis writes to the disk then, which threads that move bytes must
   * not.
   */
  private final ExecutorService workers;

  private final DedicatedLoop raftLoop;
  private final Map<RaftGroupId, AppendEntriesHandler.Served> groups = new ConcurrentHashMap<>();

  private final RpcType type = new LinkRpcType();

  /** Member that answers here. */
  private volatile ByteString member = ByteString.EMPTY;

  private volatile @Nullable RaftServer server;

  /** Check that has not passed yet; null for none. */
  private volatile @Nullable Check check;

  RaftTransport(
      LinkNode links,
      PeerBook peers,
      InetSocketAddress address,
      TransportSettings settings,
      ExecutorService workers,
      DedicatedLoop raftLoop) {
    this.links = links;
    this.peers = peers;
    this.address = address;
    this.settings = settings;
    this.services = settings.services();
    this.deadline = settings.timeout();
    this.firstEntries = settings.firstEntriesTimeout();
    this.workers = workers;
    this.raftLoop = raftLoop;
  }

  TransportSettings settings() {
    return settings;
  }

  /**
   * Admits messages to a group to the server, once it has started. Messages to another member are
   * refused, also if that was reached at the same address: a bus that has lost its files answers as
   * another member than before, or its answers would count for what is lost.
   *
   * @param self the member that this server is
   * @param behind told where the leader's log begins, if the log here has not got so far
   */
  void admit(
      RaftPeerId self,
      RaftGroupId group,
      DurableAckGuard guard,
      LeaderContact contact,
      LongConsumer behind) {
    member = self.toByteString();
    groups.put(group, new AppendEntriesHandler.Served(guard, contact, behind));
  }

  /** Sends nothing, and answers nothing, before that check of the started server has passed. */
  void hold(Check newCheck) {
    check = newCheck;
  }

  /** Check of a server that has read its files. */
  interface Check {
    /** Checks; the server does not start if it throws. */
    void check(RaftServer server) throws IOException;
  }

  private AppendEntriesHandler.Served served(RaftRpcRequestProto head) throws IOException {
    RaftGroupId group = group(head);
    AppendEntriesHandler.Served served = groups.get(group);
    if (served == null) {
      throw new GroupMismatchException("group " + group + " is not served here");
    }
    if (!head.getReplyId().equals(member)) {
      throw new GroupMismatchException(
          "a message to "
              + bus(head)
              + " (expected: to "
              + RaftPeerId.valueOf(member)
              + ", which is at this address)");
    }
    return served;
  }

  /** Sets the server whose messages it carries, before {@link #start()}. */
  void serve(RaftServer newServer) {
    server = newServer;
  }

  private void offerAll(RaftServer server) {
    links.offer(
        services.appendEntries(),
        new AppendEntriesHandler(
            server, this::served, workers, this::after, deadline.dividedBy(2)));
    offer(
        services.requestVote(),
        request -> {
          RequestVoteRequestProto vote = RequestVoteRequestProto.parseFrom(request);
          var unused = served(vote.getServerRequest());
          return CompletableFuture.completedFuture(server.requestVote(vote).toByteArray());
        });
    offer(
        services.installSnapshot(),
        request -> {
          InstallSnapshotRequestProto snapshot = InstallSnapshotRequestProto.parseFrom(request);
          AppendEntriesHandler.Served served = served(snapshot.getServerRequest());
          RaftServer.Division division = server.getDivision(group(snapshot.getServerRequest()));
          if (snapshot.hasNotification()) {
            return CompletableFuture.completedFuture(
                noted(served, division, snapshot).toByteArray());
          }
          InstallSnapshotReplyProto reply = RedundantSnapshotReply.reply(division, snapshot);
          if (reply == null) {
            ListenerPromotionGuard.end(division);
            long now = served.contact().now();
            reply =
                served.guard().install(division, snapshot, () -> server.installSnapshot(snapshot));
            if (reply.getResult() != InstallSnapshotResult.NOT_LEADER) {
              served.contact().heard(now);
            }
          }
          return CompletableFuture.completedFuture(reply.toByteArray());
        });
    offer(
        services.startElection(),
        request -> {
          StartLeaderElectionRequestProto start =
              StartLeaderElectionRequestProto.parseFrom(request);
          var unused = served(start.getServerRequest());
          return CompletableFuture.completedFuture(server.startLeaderElection(start).toByteArray());
        });
  }

  /**
   * Answers where the log here ends, if it agrees with the first entry that the leader has, and
   * otherwise takes note that this member needs entries that the leader has no more.
   */
  private static InstallSnapshotReplyProto noted(
      AppendEntriesHandler.Served served,
      RaftServer.Division division,
      InstallSnapshotRequestProto notice) {
    TermIndex begin = TermIndex.valueOf(notice.getNotification().getFirstAvailableTermIndex());
    RaftLog log = division.getRaftLog();
    InstallSnapshotReplyProto.Builder reply =
        InstallSnapshotReplyProto.newBuilder().setTerm(division.getInfo().getCurrentTerm());
    // Leaders cut their logs only up to what is committed.
    if (log.getLastCommittedIndex() >= begin.getIndex() || log.contains(begin)) {
      return reply
          .setResult(InstallSnapshotResult.ALREADY_INSTALLED)
          .setSnapshotIndex(log.getNextIndex() - 1)
          .build();
    }
    served.behind().accept(begin.getIndex());
    return reply.setResult(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE).build();
  }

  static RaftGroupId group(RaftRpcRequestProto head) {
    return RaftGroupId.valueOf(head.getRaftGroupId().getId());
  }

  private void offer(int number, Answer answer) {
    links.offer(
        number,
        (LinkPeer peer, byte[] request) ->
            CompletableFuture.supplyAsync(() -> run(answer, request), workers)
                .thenCompose(stage -> stage));
  }

  private static CompletionStage<byte[]> run(Answer answer, byte[] request) {
    try {
      return answer.to(request);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    return await(append(request), bus(request.getServerRequest()), limit(request));
  }

  @Override
  public CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request) {
    return send(
            bus(request.getServerRequest()),
            services.channel(),
            services.appendEntries(),
            request.toByteArray(),
            limit(request))
        .thenCompose(RaftTransport::appendReply);
  }

  private static CompletableFuture<AppendEntriesReplyProto> appendReply(byte[] answer) {
    try {
      return CompletableFuture.completedFuture(AppendEntriesReplyProto.parseFrom(answer));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void after(Duration delay, Runnable task) {
    raftLoop.after(delay, task);
  }

  private Duration limit(AppendEntriesRequestProto request) {
    boolean first = request.getInitializing() && request.getEntriesCount() > 0;
    Duration min = first && deadline.compareTo(firstEntries) < 0 ? firstEntries : deadline;
    // A message that a slow line needs longer for would be sent again and again, and never be
    // acknowledged.
    return min.plusMillis(request.getSerializedSize() / MIN_BYTES_PER_MILLI);
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    return ShutdownRequestFilter.filter(
        RequestVoteReplyProto.parseFrom(
            call(
                request.getServerRequest(),
                services.channel(),
                services.requestVote(),
                request.toByteArray(),
                deadline)));
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    try {
      return InstallSnapshotReplyProto.parseFrom(
          call(
              request.getServerRequest(),
              services.snapshotChannel(),
              services.installSnapshot(),
              request.toByteArray(),
              settings.snapshotTimeout()));
    } catch (IOException e) {
      pause();
      throw e;
    }
  }

  /**
   * Pauses. Ratis tries again at once; a bus that accepts no snapshot would be asked without a
   * pause.
   */
  private static void pause() throws InterruptedIOException {
    try {
      TimeUnit.MILLISECONDS.sleep(SNAPSHOT_PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted after a snapshot was not taken");
    }
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return StartLeaderElectionReplyProto.parseFrom(
        call(
            request.getServerRequest(),
            services.channel(),
            services.startElection(),
            request.toByteArray(),
            deadline));
  }

  private byte[] call(
      RaftRpcRequestProto head, String channel, int service, byte[] request, Duration limit)
      throws IOException {
    String bus = bus(head);
    return await(send(bus, channel, service, request, limit), bus, limit);
  }

  private static <T> T await(CompletableFuture<T> answer, String bus, Duration limit)
      throws IOException {
    try {
      return answer.get(2 * limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for bus " + bus);
    } catch (ExecutionException e) {
      throw new IOException("bus " + bus + ": " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("bus " + bus + ": no answer", e);
    }
  }

  private CompletableFuture<byte[]> send(
      String bus, String channel, int service, byte[] request, Duration limit) {
    if (check != null) {
      return CompletableFuture.failedFuture(new IOException("this server is being started"));
    }
    InetSocketAddress target = peers.find(bus);
    return target == null
        ? CompletableFuture.failedFuture(new IOException("no address is known"))
        : links.call(target, channel, service, request, limit);
  }

  private static String bus(RaftRpcRequestProto head) {
    return RaftPeerId.valueOf(head.getReplyId()).toString();
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> others) {
    for (RaftPeer peer : others) {
      peers.configure(peer.getId().toString(), peer.getAddress());
    }
  }

  @Override
  public void handleException(RaftPeerId peer, Exception e, boolean reconnect) {
    // A link that is broken is opened again at the next call.
  }

  @Override
  public RpcType getRpcType() {
    return type;
  }

  @Override
  public void start() throws IOException {
    // Not before: while Ratis is still reading its files it accepts messages all the same, knows
    // neither its term nor its vote then, and fails to start if it came to follow a leader.
    RaftServer started = Objects.requireNonNull(server, "server");
    Check open = check;
    if (open != null) {
      open.check(started);
      check = null;
    }
    offerAll(started);
  }

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return address;
  }

  @Override
  public void close() {
    for (int service = services.requestVote(); service <= services.startElection(); service++) {
      links.withdraw(service);
    }
  }

  private interface Answer {
    CompletionStage<byte[]> to(byte[] request) throws IOException;
  }
}
