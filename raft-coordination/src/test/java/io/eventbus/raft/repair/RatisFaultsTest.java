package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.MD5FileUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ratis without the repairs of this package. A test that fails here says that a repair is no longer
 * needed, or no longer works as it does: see the class that its comment names.
 */
@Timeout(240)
class RatisFaultsTest {
  private static final long TERM = 1;
  private static final String LOG_WRITER = "SegmentedRaftLogWorker.runWorker";
  private static final int NEVER_MILLIS = 600_000;
  private static final int SOON_MILLIS = 50;

  /**
   * Timeout with which there are heartbeats, and a leader without a majority goes on for some
   * seconds.
   */
  private static final int PATIENT_MILLIS = 4_000;

  private final Path root;
  private final CountDownLatch disk = new CountDownLatch(1);

  RatisFaultsTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void release() {
    disk.countDown();
    CodeInjectionForTesting.remove(LOG_WRITER);
  }

  private boolean awaitDisk(Object server) {
    try {
      return BareRatis.SELF.equals(String.valueOf(server)) && disk.await(50, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static AppendEntriesRequestProto.Builder append(LogEntryProto... entries) {
    AppendEntriesRequestProto.Builder append =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(BareRatis.head("b"))
            .setLeaderTerm(TERM)
            .setLeaderCommit(-1)
            .addAllEntries(List.of(entries));
    long first = entries[0].getIndex();
    if (first > 0) {
      append.setPreviousLog(TermIndex.valueOf(TERM, first - 1).toProto());
    }
    return append;
  }

  private static LogEntryProto entry(long index) {
    return LogEntryProto.newBuilder()
        .setTerm(TERM)
        .setIndex(index)
        .setStateMachineLogEntry(
            StateMachineLogEntryProto.newBuilder()
                .setClientId(ClientId.randomId().toByteString())
                .setLogData(ByteString.EMPTY))
        .build();
  }

  private static LogEntryProto configuration(long index, String... ids) {
    RaftConfigurationProto.Builder voters = RaftConfigurationProto.newBuilder();
    for (String id : ids) {
      RaftPeer peer = BareRatis.peer(id, RaftPeerRole.FOLLOWER);
      voters.addPeers(peer.getRaftPeerProto());
    }
    return LogEntryProto.newBuilder()
        .setTerm(TERM)
        .setIndex(index)
        .setConfigurationEntry(voters)
        .build();
  }

  /** Waits for the effects of other threads; looks again every few milliseconds. */
  static void until(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("within 60 s").isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }

  /** {@link DurableAckGuard}. */
  @Test
  void aRepeatedAppendIsAcknowledgedBeforeItIsOnTheDisk() throws Exception {
    CodeInjectionForTesting.put(LOG_WRITER, (server, peer, more) -> awaitDisk(server));
    try (BareRatis ratis = BareRatis.follower(root, NEVER_MILLIS)) {
      AppendEntriesRequestProto request = append(entry(0)).build();
      CompletableFuture<AppendEntriesReplyProto> first = ratis.server().appendEntriesAsync(request);
      AppendEntriesReplyProto again =
          ratis.server().appendEntriesAsync(request).get(60, TimeUnit.SECONDS);
      assertThat(again.getResult()).isEqualTo(AppendResult.SUCCESS);
      assertThat(first).isNotDone();
      assertThat(ratis.division().getRaftLog().getFlushIndex()).isNegative();
      disk.countDown();
    }
  }

  /** {@link RedundantSnapshotReply}. */
  @Test
  void aSnapshotThatEndsBeforeTheLogBreaksTheLog() throws Exception {
    try (BareRatis ratis = BareRatis.follower(root, NEVER_MILLIS)) {
      ratis.server().appendEntriesAsync(append(entry(0), entry(1), entry(2)).build()).get();
      assertThat(ratis.division().getRaftLog().getFlushIndex()).isEqualTo(2);
      Path content = Files.writeString(root.resolve("content"), "x");
      ratis
          .server()
          .installSnapshot(
              InstallSnapshotRequestProto.newBuilder()
                  .setServerRequest(BareRatis.head("b"))
                  .setLeaderTerm(TERM)
                  .setSnapshotChunk(
                      SnapshotChunkProto.newBuilder()
                          .setRequestId(UUID.randomUUID().toString())
                          .setTermIndex(TermIndex.valueOf(TERM, 1).toProto())
                          .setDone(true)
                          .addFileChunks(
                              FileChunkProto.newBuilder()
                                  .setFilename("sm/snapshot.1_1")
                                  .setData(ByteString.copyFromUtf8("x"))
                                  .setDone(true)
                                  .setFileDigest(
                                      ByteString.copyFrom(
                                          MD5FileUtil.computeMd5ForFile(content.toFile())
                                              .getDigest()))))
                  .build());
      assertThat(ratis.division().getRaftLog().getLastEntryTermIndex().getIndex()).isEqualTo(2);
      assertThat(ratis.division().getRaftLog().getFlushIndex())
          .as("what the log takes for its end")
          .isEqualTo(1);
    }
  }

  /** {@link ListenerPromotionGuard}. */
  @Test
  void aListenerThatBecomesAVoterDeadlocks() throws Exception {
    try (BareRatis ratis = BareRatis.listener(root, SOON_MILLIS)) {
      RaftServer.Division division = ratis.division();
      ratis.server().appendEntriesAsync(append(entry(0)).build()).get();
      Thread watch = watch(division);
      FutureTask<CompletableFuture<AppendEntriesReplyProto>> promotion =
          new FutureTask<>(
              () -> {
                synchronized (division) {
                  until(() -> watch.getState() == Thread.State.BLOCKED);
                  return ratis
                      .server()
                      .appendEntriesAsync(
                          append(configuration(1, BareRatis.SELF, "b", "c")).build());
                }
              });
      Thread appender = new Thread(promotion, "appender");
      appender.setDaemon(true);
      appender.start();
      until(() -> appender.getState() == Thread.State.WAITING || promotion.isDone());
      assertThat(promotion.isDone()).isFalse();
      assertThat(watch.getState()).isEqualTo(Thread.State.BLOCKED);
      assertThat(Arrays.toString(appender.getStackTrace())).contains("updateConfiguration");
      // Nothing else ends it.
      ratis.abandon();
    }
  }

  private static Thread watch(RaftServer.Division division) {
    String name = ListenerPromotionGuard.threadName(division);
    return ListenerPromotionGuard.threads().stream()
        .filter(thread -> thread.getName().equals(name))
        .findAny()
        .orElseThrow();
  }

  /** {@link LeaderContact}. */
  @Test
  void aServerThatStartedAsNoMemberKnowsNoSilence() throws Exception {
    try (BareRatis ratis = BareRatis.listener(root, NEVER_MILLIS)) {
      ratis.server().appendEntriesAsync(append(configuration(0, "b", "c")).build()).get();
    }
    try (BareRatis ratis = BareRatis.restart(root, NEVER_MILLIS)) {
      AppendEntriesReplyProto reply =
          ratis
              .server()
              .appendEntriesAsync(append(entry(1)).setInitializing(true).build())
              .get(60, TimeUnit.SECONDS);
      long heard = System.nanoTime();
      assertThat(reply.getResult()).isEqualTo(AppendResult.SUCCESS);
      until(() -> System.nanoTime() - heard > TimeUnit.MILLISECONDS.toNanos(SOON_MILLIS));
      assertThat(
              ratis
                  .division()
                  .getInfo()
                  .getRoleInfoProto()
                  .getFollowerInfo()
                  .getLeaderInfo()
                  .getLastRpcElapsedTimeMs())
          .isZero();
    }
  }

  /** {@link RoutineAppend}. */
  @Test
  void anAppendTakesTheDivisionsMonitor() throws Exception {
    try (BareRatis ratis = BareRatis.follower(root, NEVER_MILLIS)) {
      FutureTask<CompletableFuture<AppendEntriesReplyProto>> append =
          new FutureTask<>(() -> ratis.server().appendEntriesAsync(append(entry(0)).build()));
      Thread appender = new Thread(append, "appender");
      synchronized (ratis.division()) {
        appender.start();
        until(() -> appender.getState() == Thread.State.BLOCKED || append.isDone());
        assertThat(append.isDone()).isFalse();
      }
      assertThat(append.get().get().getResult()).isEqualTo(AppendResult.SUCCESS);
    }
  }

  /** {@link ShutdownRequestFilter}. */
  @Test
  void aLeaderTellsACandidateThatIsNoMemberToShutDown() throws Exception {
    try (BareRatis ratis = BareRatis.leader(root, SOON_MILLIS)) {
      RequestVoteReplyProto reply =
          ratis
              .server()
              .requestVote(
                  RequestVoteRequestProto.newBuilder()
                      .setServerRequest(BareRatis.head("stranger"))
                      .setCandidateTerm(ratis.division().getInfo().getCurrentTerm() + 1)
                      .setCandidateLastEntry(TermIndex.valueOf(0, -1).toProto())
                      .setPreVote(true)
                      .build());
      assertThat(reply.getShouldShutdown()).isTrue();
      assertThat(ShutdownRequestFilter.filter(reply).getShouldShutdown()).isFalse();
    }
  }

  /**
   * Starts a leader that was elected when it had this change in its log, whose first entries were
   * of b.
   */
  private BareRatis leaderWithin(
      RaftConfigurationProto.Builder change, PlayedServers others, String... voters)
      throws Exception {
    BareRatis ratis = BareRatis.among(root, NEVER_MILLIS, others, voters);
    ratis.server().appendEntriesAsync(append(entry(0), change(1, change)).build()).get();
    ratis.stand("b");
    return ratis;
  }

  private static LogEntryProto change(long index, RaftConfigurationProto.Builder change) {
    return LogEntryProto.newBuilder()
        .setTerm(TERM)
        .setIndex(index)
        .setConfigurationEntry(change)
        .build();
  }

  private static List<RaftPeerProto> peers(String... ids) {
    return Arrays.stream(ids)
        .map(id -> BareRatis.peer(id, RaftPeerRole.FOLLOWER).getRaftPeerProto())
        .toList();
  }

  private static boolean isChanging(BareRatis ratis) {
    try {
      return !ratis.division().getRaftConf().getPreviousPeers().isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isLeader(BareRatis ratis) {
    try {
      return ratis.division().getInfo().isLeader();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isElectionUnderWay() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().contains("LeaderElection"));
  }

  private static boolean isReady(BareRatis ratis) {
    try {
      return ratis.division().getInfo().isLeaderReady();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static CompletableFuture<RaftClientReply> change(
      BareRatis ratis, List<RaftPeer> voters, List<RaftPeer> listeners) throws IOException {
    return ratis
        .server()
        .setConfigurationAsync(
            new SetConfigurationRequest(
                ClientId.randomId(),
                ratis.server().getId(),
                BareRatis.GROUP,
                1,
                SetConfigurationRequest.Arguments.newBuilder()
                    .setServersInNewConf(voters)
                    .setListenersInNewConf(listeners)
                    .build()));
  }

  /** {@link VoterChanges}, the second fault. */
  @Test
  void aMemberIsNotElectedWhileAVoterBecomesAListener() throws Exception {
    RaftConfigurationProto.Builder change =
        RaftConfigurationProto.newBuilder()
            .addAllPeers(peers(BareRatis.SELF, "b"))
            .addAllListeners(peers("c"))
            .addAllOldPeers(peers(BareRatis.SELF, "b", "c"));
    try (BareRatis ratis = leaderWithin(change, new PlayedServers(), "b", "c")) {
      until(() -> isLeader(ratis) && !isElectionUnderWay());
      assertThat(isReady(ratis)).isFalse();
      assertThat(ratis.division().getRaftLog().getLastEntryTermIndex().getIndex())
          .as("the end of the log, without a first entry of this leader")
          .isEqualTo(1);
    }
  }

  /** {@link VoterChanges}, the third fault. */
  @Test
  void aNewLeaderEndsAChangeWithoutTheFormerVoters() throws Exception {
    RaftConfigurationProto.Builder change =
        RaftConfigurationProto.newBuilder()
            .addAllPeers(peers(BareRatis.SELF, "b"))
            .addAllOldPeers(peers(BareRatis.SELF, "c", "d"));
    PlayedServers others = new PlayedServers().cutAppends("c", "d");
    try (BareRatis ratis = leaderWithin(change, others, "c", "d")) {
      until(() -> isReady(ratis) && !isChanging(ratis));
    }
  }

  /** {@link AbortedReconfiguration}. */
  @Test
  void aNewLeaderGoesOnServingTheMemberThatAChangeTookOut() throws Exception {
    RaftConfigurationProto.Builder change =
        RaftConfigurationProto.newBuilder()
            .addAllPeers(peers(BareRatis.SELF, "b"))
            .addAllOldPeers(peers(BareRatis.SELF, "b", "c"));
    try (BareRatis ratis = leaderWithin(change, new PlayedServers(), "b", "c")) {
      until(() -> isReady(ratis) && !isChanging(ratis));
      List<RaftPeer> voters = List.copyOf(ratis.division().getRaftConf().getCurrentPeers());
      assertThat(voters).hasSize(2);
      assertThatThrownBy(
              () ->
                  change(ratis, voters, List.of(BareRatis.peer("c", RaftPeerRole.LISTENER)))
                      .get(60, TimeUnit.SECONDS))
          .hasStackTraceContaining("duplicate");
    }
  }

  /**
   * Shows why reads of the registry go with an entry of the log: {@code forward.CommandService}.
   */
  @Test
  void aLinearizableReadIsAnsweredWithoutAMajority() throws Exception {
    PlayedServers others = new PlayedServers();
    try (BareRatis ratis = BareRatis.among(root, PATIENT_MILLIS, others, "b", "c")) {
      ratis.server().appendEntriesAsync(append(entry(0)).build()).get();
      ratis.stand("b");
      until(() -> isReady(ratis));
      assertThat(read(ratis).get(60, TimeUnit.SECONDS).isSuccess()).isTrue();
      // The confirmation of the first one is remembered just after its answer, and before the
      // second's.
      assertThat(read(ratis).get(60, TimeUnit.SECONDS).isSuccess()).isTrue();
      others.cut();
      assertThat(read(ratis).get(60, TimeUnit.SECONDS).isSuccess()).isTrue();
    }
  }

  private static CompletableFuture<RaftClientReply> read(BareRatis ratis) throws IOException {
    return ratis
        .server()
        .submitClientRequestAsync(
            RaftClientRequest.newBuilder()
                .setClientId(ClientId.randomId())
                .setServerId(ratis.server().getId())
                .setGroupId(BareRatis.GROUP)
                .setCallId(1)
                .setMessage(Message.EMPTY)
                .setType(RaftClientRequest.readRequestType())
                .build());
  }

  /** {@link DirectSubmission}. */
  @Test
  void theFrontSubmitsOnAnotherThread() throws Exception {
    try (BareRatis ratis = BareRatis.leader(root, SOON_MILLIS)) {
      submit(ratis, ratis.server());
      assertThat(ratis.submitters()).doesNotContain(Thread.currentThread());
      submit(ratis, DirectSubmission.of(ratis.server(), BareRatis.GROUP));
      assertThat(ratis.submitters()).contains(Thread.currentThread());
    }
  }

  private static void submit(BareRatis ratis, RaftClientAsynchronousProtocol entrance)
      throws IOException, InterruptedException, ExecutionException {
    entrance
        .submitClientRequestAsync(
            RaftClientRequest.newBuilder()
                .setClientId(ClientId.randomId())
                .setServerId(ratis.server().getId())
                .setGroupId(BareRatis.GROUP)
                .setCallId(1)
                .setMessage(Message.valueOf("x"))
                .setType(RaftClientRequest.writeRequestType())
                .build())
        .get();
  }

  /** {@link NoOpMetrics}. */
  @Test
  void ratisDoesNotStartWithoutMetrics() throws Exception {
    List<URL> jars =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> entry.endsWith(".jar"))
            .map(RatisFaultsTest::url)
            .toList();
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader ratisOnly =
        new URLClassLoader(jars.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(ratisOnly);
      Class<?> registries = ratisOnly.loadClass(MetricRegistries.class.getName());
      assertThatThrownBy(() -> registries.getMethod("global").invoke(null))
          .hasRootCauseInstanceOf(ClassNotFoundException.class);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URL url(String jar) {
    try {
      return Path.of(jar).toUri().toURL();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
