package io.eventbus.raft;

import static io.eventbus.raft.Fake.fake;
import static io.eventbus.raft.Fake.unexpected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkPeer;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class AppendEntriesHandlerTest {
  private static final long TERM = 7;
  private static final long LAST = 11;
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final RaftGroupId GROUP = RaftGroupId.randomId();
  private static final RaftGroupId OTHER = RaftGroupId.randomId();
  private static final LinkPeer LEADER = new LinkPeer("bus-a", "", "bus-a", 1, RaftServices.RAFT);

  /** Tasks that wait for a worker; the test is the worker. */
  private final Queue<Runnable> work = new ArrayDeque<>();

  private final List<AppendEntriesRequestProto> appended = new ArrayList<>();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<Boolean> locked = new ArrayList<>();
  private @Nullable IOException refusal;
  private CompletableFuture<AppendEntriesReplyProto> engine = new CompletableFuture<>();
  private RaftPeerRole role = RaftPeerRole.FOLLOWER;
  private long term = TERM;
  private boolean lost;
  private long onDisk = LAST;

  private final RaftServer.Division division = fake(RaftServer.Division.class, this::ofDivision);
  private final DivisionInfo info = fake(DivisionInfo.class, this::ofInfo);
  private final DurableAckGuard disk = new DurableAckGuard(() -> lost);
  private final DurableAckGuard other = new DurableAckGuard(() -> lost);
  private long nanos;
  private final LeaderContact contact = new LeaderContact(() -> nanos);
  private final AppendEntriesHandler service =
      new AppendEntriesHandler(
          fake(RaftServer.class, this::ofServer),
          head ->
              new AppendEntriesHandler.Served(
                  RaftTransport.group(head).equals(GROUP) ? disk : other, contact, begin -> {}),
          work::add,
          (delay, task) -> later.add(task),
          Duration.ofMillis(150));

  private Object ofServer(String method, Object[] arguments) throws IOException {
    switch (method) {
      case "getDivision" -> {
        if (!arguments[0].equals(GROUP) && !arguments[0].equals(OTHER)) {
          throw new GroupMismatchException("an unknown group");
        }
        return division;
      }
      case "appendEntriesAsync" -> {
        appended.add((AppendEntriesRequestProto) arguments[0]);
        threads.add(Thread.currentThread());
        locked.add(Thread.holdsLock(division));
        if (refusal != null) {
          throw refusal;
        }
        Object answer = engine;
        return answer;
      }
      default -> {
        throw unexpected(method);
      }
    }
  }

  private Object ofDivision(String method, Object[] arguments) {
    return switch (method) {
      case "getInfo" -> info;
      case "getRaftLog" -> fake(RaftLog.class, (name, none) -> onDisk);
      case "getMemberId" -> RaftGroupMemberId.valueOf(RaftPeerId.valueOf("bus-b"), GROUP);
      default -> throw unexpected(method);
    };
  }

  private Object ofInfo(String method, Object[] arguments) {
    return switch (method) {
      case "isFollower" -> role == RaftPeerRole.FOLLOWER;
      case "isListener" -> role == RaftPeerRole.LISTENER;
      case "getCurrentTerm" -> term;
      default -> throw unexpected(method);
    };
  }

  private static AppendEntriesRequestProto.Builder entries() {
    return heartbeat().addEntries(entry(10)).addEntries(entry(LAST));
  }

  private static LogEntryProto.Builder entry(long index) {
    return LogEntryProto.newBuilder()
        .setTerm(TERM)
        .setIndex(index)
        .setStateMachineLogEntry(StateMachineLogEntryProto.getDefaultInstance());
  }

  private static AppendEntriesRequestProto.Builder heartbeat() {
    return AppendEntriesRequestProto.newBuilder().setServerRequest(head(GROUP)).setLeaderTerm(TERM);
  }

  private static RaftRpcRequestProto head(RaftGroupId group) {
    return RaftRpcRequestProto.newBuilder()
        .setReplyId(RaftPeerId.valueOf("bus-b").toByteString())
        .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(group.toByteString()))
        .build();
  }

  private CompletableFuture<byte[]> answer(AppendEntriesRequestProto request) {
    nanos = IDLE_NANOS;
    return service.answer(LEADER, request.toByteArray()).toCompletableFuture();
  }

  private void answersWhatTheEngineSays(
      AppendEntriesRequestProto request, CompletableFuture<byte[]> answer) throws Exception {
    assertThat(answer).isNotDone();
    boolean old = request.getLeaderTerm() < TERM;
    nanos += WORK_NANOS;
    term = Math.max(TERM, request.getLeaderTerm());
    AppendEntriesReplyProto reply =
        AppendEntriesReplyProto.newBuilder()
            .setTerm(term)
            .setResult(old ? AppendResult.NOT_LEADER : AppendResult.SUCCESS)
            .setNextIndex(12)
            .build();
    engine.complete(reply);
    assertThat(AppendEntriesReplyProto.parseFrom(answer.get())).isEqualTo(reply);
    assertThat(contact.silenceMillis())
        .as("since the message came, if it is of a leader")
        .isEqualTo(TimeUnit.NANOSECONDS.toMillis(old ? IDLE_NANOS + WORK_NANOS : WORK_NANOS));
  }

  private void goesOnTheCallersThread(AppendEntriesRequestProto request) throws Exception {
    CompletableFuture<byte[]> answer = answer(request);
    assertThat(work).isEmpty();
    assertThat(appended).containsExactly(request);
    assertThat(threads).containsExactly(Thread.currentThread());
    // Nobody may change the role between the look at it and the entries.
    assertThat(locked).containsExactly(true);
    assertThat(contact.silenceMillis()).as("before it is on the disk").isZero();
    answersWhatTheEngineSays(request, answer);
  }

  private void isLeftToAWorker(AppendEntriesRequestProto request) throws Exception {
    CompletableFuture<byte[]> answer = answer(request);
    assertThat(appended).isEmpty();
    assertThat(work).hasSize(1);
    Thread worker = new Thread(work.remove(), "worker");
    worker.start();
    worker.join();
    assertThat(appended).containsExactly(request);
    assertThat(threads).containsExactly(worker);
    assertThat(locked).containsExactly(false);
    answersWhatTheEngineSays(request, answer);
  }

  @Test
  void entriesForAFollowerGoOnTheCallersThread() throws Exception {
    goesOnTheCallersThread(entries().build());
  }

  @Test
  void entriesForAListenerGoOnTheCallersThread() throws Exception {
    role = RaftPeerRole.LISTENER;
    goesOnTheCallersThread(entries().build());
  }

  @Test
  void aHeartbeatGoesOnTheCallersThread() throws Exception {
    goesOnTheCallersThread(heartbeat().build());
  }

  @Test
  void aNewTermIsLeftToAWorker() throws Exception {
    isLeftToAWorker(entries().setLeaderTerm(TERM + 1).build());
  }

  @Test
  void anOldTermIsLeftToAWorker() throws Exception {
    isLeftToAWorker(entries().setLeaderTerm(TERM - 1).build());
  }

  @Test
  void entriesForACandidateAreLeftToAWorker() throws Exception {
    role = RaftPeerRole.CANDIDATE;
    isLeftToAWorker(entries().build());
  }

  @Test
  void otherMembersAreLeftToAWorker() throws Exception {
    isLeftToAWorker(
        entries()
            .addEntries(
                LogEntryProto.newBuilder()
                    .setIndex(LAST)
                    .setConfigurationEntry(RaftConfigurationProto.getDefaultInstance()))
            .build());
  }

  @Test
  void otherMembersForAListenerAreLeftToAWorker() throws Exception {
    role = RaftPeerRole.LISTENER;
    isLeftToAWorker(
        heartbeat()
            .addEntries(
                LogEntryProto.newBuilder()
                    .setIndex(LAST)
                    .setConfigurationEntry(RaftConfigurationProto.getDefaultInstance()))
            .build());
  }

  @Test
  void theFirstEntriesAreLeftToAWorker() throws Exception {
    isLeftToAWorker(entries().setInitializing(true).build());
  }

  @Test
  void bytesThatAreNoMessageFailAndReachNobody() {
    CompletableFuture<byte[]> answer =
        service.answer(LEADER, new byte[] {(byte) 0xff, 1, 2, 3}).toCompletableFuture();
    fails(answer, IOException.class);
  }

  @Test
  void anUnknownGroupFailsAndReachesNobody() {
    fails(
        answer(entries().setServerRequest(head(RaftGroupId.randomId())).build()),
        GroupMismatchException.class);
  }

  private void fails(CompletableFuture<byte[]> answer, Class<? extends Throwable> cause) {
    assertThatThrownBy(answer::get)
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(cause);
    assertThat(work).isEmpty();
    assertThat(appended).isEmpty();
  }

  /**
   * Appends entries a second time, to which the engine says yes before it has written the first.
   */
  @Test
  void doesNotAcknowledgeEntriesBeforeTheyAreOnTheDisk() {
    onDisk = LAST - 1;
    CompletableFuture<byte[]> answer = answer(entries().build());
    engine.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThatThrownBy(answer::get)
        .cause()
        .isInstanceOf(IOException.class)
        .hasMessage("entries: up to 11, on the disk: up to 10");
  }

  /**
   * Appends entries while others have to be taken off the disk first, which is flushed farther
   * until then.
   */
  @Test
  void doesNotAcknowledgeEntriesWhileOthersWaitForTheDisk() throws Exception {
    CompletableFuture<byte[]> first = answer(entries().build());
    CompletableFuture<AppendEntriesReplyProto> early = engine;
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThatThrownBy(() -> answer(entries().build()).get())
        .cause()
        .hasMessage("entries: up to 11, others wait for the disk");
    early.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(first.get()).isEmpty();
    assertThat(answer(entries().build()).get()).isEmpty();
  }

  @Test
  void aGroupDoesNotWaitForTheEntriesOfAnother() throws Exception {
    CompletableFuture<byte[]> waiting = answer(entries().build());
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(answer(entries().setServerRequest(head(OTHER)).build()).get()).isEmpty();
    assertThat(waiting).isNotDone();
  }

  @Test
  void doesNotWaitForEntriesThatASnapshotReplaced() throws Exception {
    var forgotten = answer(entries().build());
    CompletableFuture<AppendEntriesReplyProto> before = engine;
    disk.beginAnew();
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(answer(entries().build()).get()).isEmpty();
    assertThat(forgotten).isNotDone();
    // If it comes after all, it does not count for what waits by then.
    engine = new CompletableFuture<>();
    var waiting = answer(entries().build());
    before.complete(AppendEntriesReplyProto.getDefaultInstance());
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThatThrownBy(() -> answer(entries().build()).get()).hasMessageContaining("others wait");
    assertThat(waiting).isNotDone();
  }

  @Test
  void afterTheLogWasNotWrittenNoYesIsTrue() {
    CompletableFuture<byte[]> first = answer(entries().build());
    engine.completeExceptionally(new IOException("a full disk"));
    assertThatThrownBy(first::get).cause().hasMessage("a full disk");
    lost = true;
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThatThrownBy(() -> answer(entries().build()).get())
        .cause()
        .hasMessage("entries: up to 11, the log could not be written");
  }

  /** Fails before the log: the engine keeps its term in another file. */
  @Test
  void failuresBeforeTheLogDoNotCount() throws Exception {
    CompletableFuture<byte[]> first = answer(entries().build());
    engine.completeExceptionally(new IOException("the term could not be written"));
    assertThatThrownBy(first::get).cause().hasMessage("the term could not be written");
    engine = CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(answer(entries().build()).get()).isEmpty();
    assertThat(later).isEmpty();
  }

  @Test
  void aLeaderHearsEarlyOfALargeMessageThatWaitsForTheDisk() {
    ByteString large = ByteString.copyFrom(new byte[40_000]);
    CompletableFuture<byte[]> answer =
        answer(
            entries()
                .addEntries(
                    entry(LAST + 1)
                        .setStateMachineLogEntry(
                            StateMachineLogEntryProto.newBuilder().setLogData(large)))
                .build());
    assertThat(answer).isNotDone();
    later.remove().run();
    assertThatThrownBy(answer::get).cause().hasMessage("not on the disk within PT0.15S");
  }

  @Test
  void rejectedEntriesDoNotWaitForTheDisk() throws Exception {
    refusal = new IOException("not ready");
    assertThatThrownBy(() -> answer(entries().build()).get()).cause().hasMessage("not ready");
    refusal = null;
    engine.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(answer(entries().build()).get()).isEmpty();
  }

  /**
   * Changes the term: a vote for another leader may have been given since the engine looked at it.
   */
  @Test
  void doesNotAcknowledgeEntriesOfAFormerTerm() {
    CompletableFuture<byte[]> answer = answer(entries().build());
    term = TERM + 1;
    engine.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThatThrownBy(answer::get)
        .cause()
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("term: ");
  }

  @Test
  void aHeartbeatAndANoDependOnNothing() throws Exception {
    onDisk = LAST - 1;
    CompletableFuture<byte[]> heartbeat = answer(heartbeat().build());
    CompletableFuture<byte[]> no = answer(entries().build());
    AppendEntriesReplyProto reply =
        AppendEntriesReplyProto.newBuilder().setResult(AppendResult.INCONSISTENCY).build();
    engine.complete(reply);
    assertThat(AppendEntriesReplyProto.parseFrom(heartbeat.get())).isEqualTo(reply);
    assertThat(AppendEntriesReplyProto.parseFrom(no.get())).isEqualTo(reply);
  }

  @Test
  void answersWithTheFailureOfTheEngine() {
    CompletableFuture<byte[]> answer = answer(entries().build());
    engine.completeExceptionally(new IOException("a full disk"));
    assertThatThrownBy(answer::get).cause().hasMessage("a full disk");
  }
}
