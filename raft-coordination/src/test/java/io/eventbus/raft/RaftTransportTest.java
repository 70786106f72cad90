package io.eventbus.raft;

import static io.eventbus.raft.Fake.fake;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class RaftTransportTest {
  private static final RaftGroupId GROUP = RaftGroupId.randomId();
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final Duration FIRST_ENTRIES = Duration.ofSeconds(60);

  private final ExecutorService workers = Executors.newFixedThreadPool(2);
  private final LinkNode here = node("bus-a");
  private final LinkNode there = node("bus-b");

  private static LinkNode node(String bus) {
    return new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(bus, ""), LinkSecurity.none());
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
    workers.shutdown();
  }

  private RaftTransport transport(LinkNode links, PeerBook peers, InetSocketAddress address) {
    return transport(links, peers, address, DEADLINE);
  }

  private RaftTransport transport(
      LinkNode links, PeerBook peers, InetSocketAddress address, Duration deadline) {
    RaftTransport transport =
        new RaftTransport(
            links,
            peers,
            address,
            new TransportSettings(
                RaftServices.DEFAULT,
                "the log",
                deadline,
                FIRST_ENTRIES,
                DEADLINE,
                Duration.ofMillis(10)),
            workers,
            links.useDedicatedLoop(Set.of(RaftServices.RAFT)));
    transport.admit(
        RaftPeerId.valueOf(links.identity().bus()),
        GROUP,
        new DurableAckGuard(() -> false),
        new LeaderContact(System::nanoTime),
        begin -> {});
    return transport;
  }

  /** Returns an engine that tells every candidate to end. */
  private static RaftServer dismissive() {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("requestVote");
              return RequestVoteReplyProto.newBuilder().setTerm(7).setShouldShutdown(true).build();
            });
  }

  @Test
  void nothingReachesAnEngineThatHasNotStartedAndNobodyIsToldToEnd() throws IOException {
    InetSocketAddress address =
        there.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    RaftTransport theirs = transport(there, new PeerBook(), address);
    PeerBook peers = new PeerBook();
    peers.learn("bus-b", address);
    RaftTransport ours = transport(here, peers, address);
    RequestVoteRequestProto request = vote("bus-b");

    theirs.serve(dismissive());
    assertThatThrownBy(() -> ours.requestVote(request)).isInstanceOf(IOException.class);

    theirs.start();
    RequestVoteReplyProto reply = ours.requestVote(request);
    assertThat(reply.getTerm()).isEqualTo(7);
    assertThat(reply.getShouldShutdown()).isFalse();
  }

  private static RequestVoteRequestProto vote(String of) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(
            RaftRpcRequestProto.newBuilder()
                .setReplyId(RaftPeerId.valueOf(of).toByteString())
                .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())))
        .build();
  }

  @Test
  void aMessageToAnotherMemberAtTheSameAddressIsRefused() throws IOException {
    InetSocketAddress address =
        there.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    RaftTransport theirs = transport(there, new PeerBook(), address);
    theirs.serve(
        fake(
            RaftServer.class,
            (method, arguments) -> {
              assertThat(method).isEqualTo("getDivision");
              return division();
            }));
    theirs.start();
    PeerBook peers = new PeerBook();
    peers.learn("bus-b~1", address);
    RaftTransport ours = transport(here, peers, address);
    RaftRpcRequestProto head = vote("bus-b~1").getServerRequest();
    for (Callable<?> message :
        List.<Callable<?>>of(
            () -> ours.requestVote(vote("bus-b~1")),
            () -> ours.appendEntries(entries(false).toBuilder().setServerRequest(head).build()),
            () ->
                ours.installSnapshot(
                    InstallSnapshotRequestProto.newBuilder().setServerRequest(head).build()),
            () ->
                ours.startLeaderElection(
                    StartLeaderElectionRequestProto.newBuilder().setServerRequest(head).build()))) {
      assertThatThrownBy(message::call)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a message to bus-b~1 (expected: to bus-b,");
    }
  }

  /** Returns an engine that is busy with its first entries until somebody completes them. */
  private static RaftServer busy(
      CountDownLatch asked, Queue<CompletableFuture<AppendEntriesReplyProto>> answers) {
    return fake(
        RaftServer.class,
        (method, arguments) -> {
          if (method.equals("getDivision")) {
            return division();
          }
          assertThat(method).isEqualTo("appendEntriesAsync");
          Object answer = answers.remove();
          asked.countDown();
          return answer;
        });
  }

  /** Returns a division that is neither a follower nor a listener yet; its disk is swift. */
  private static RaftServer.Division division() {
    DivisionInfo info =
        fake(
            DivisionInfo.class,
            (method, arguments) -> method.equals("getCurrentTerm") ? (Object) 0L : false);
    RaftLog log = fake(RaftLog.class, (method, arguments) -> 0L);
    return fake(
        RaftServer.Division.class, (method, arguments) -> method.equals("getRaftLog") ? log : info);
  }

  private static AppendEntriesRequestProto entries(boolean initializing) {
    return AppendEntriesRequestProto.newBuilder()
        .setServerRequest(
            RaftRpcRequestProto.newBuilder()
                .setReplyId(RaftPeerId.valueOf("bus-b").toByteString())
                .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())))
        .setInitializing(initializing)
        .addEntries(LogEntryProto.getDefaultInstance())
        .build();
  }

  @Test
  void aBusThatIsTakenInHasMoreTimeForItsFirstEntries() throws Exception {
    InetSocketAddress address =
        there.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    CompletableFuture<AppendEntriesReplyProto> engine = new CompletableFuture<>();
    CompletableFuture<AppendEntriesReplyProto> later = new CompletableFuture<>();
    RaftTransport theirs = transport(there, new PeerBook(), address);
    CountDownLatch asked = new CountDownLatch(1);
    theirs.serve(busy(asked, new ConcurrentLinkedQueue<>(List.of(engine, later))));
    theirs.start();
    PeerBook peers = new PeerBook();
    peers.learn("bus-b", address);
    Duration minimum = Duration.ofMillis(100);
    RaftTransport ours = transport(here, peers, address, minimum);

    FutureTask<AppendEntriesReplyProto> first =
        new FutureTask<>(() -> ours.appendEntries(entries(true)));
    here.peer(address, RaftServices.RAFT).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    Thread appender = new Thread(first, "appender");
    appender.start();
    assertThat(asked.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    // A call that begins later and has no more time than usual.
    assertThatThrownBy(() -> ours.appendEntries(entries(false)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no answer");
    assertThat(first.isDone()).isFalse();
    later.complete(AppendEntriesReplyProto.getDefaultInstance());
    engine.complete(AppendEntriesReplyProto.newBuilder().setTerm(7).build());
    assertThat(first.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).getTerm()).isEqualTo(7);
  }
}
