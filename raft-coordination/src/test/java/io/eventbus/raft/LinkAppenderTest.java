package io.eventbus.raft;

import static io.eventbus.raft.Fake.fake;
import static io.eventbus.raft.Fake.unexpected;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.DivisionProperties;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/**
 * Appender between Ratis and followers, both played by the test.
 *
 * <p>The appender's own thread is kept in the timer after its first success, until {@link
 * Rpc#release}: sending on other threads must not depend on it, and it might be faster.
 */
@Timeout(240)
class LinkAppenderTest {
  private static final long DEADLINE_SECONDS = 10;
  private static final long TERM = 3;

  /** Timeout with which a heartbeat is never due, unless it is asked for. */
  private static final int RPC_TIMEOUT_MILLIS = (int) TimeUnit.HOURS.toMillis(10);

  private final Rpc rpc = new Rpc();
  private final AtomicLong logNext = new AtomicLong();
  private final AtomicLong followerNext = new AtomicLong();
  private final AtomicLong followerMatch = new AtomicLong(-1);
  private final Timestamp start = Timestamp.currentTime();
  private final Queue<Thread> counted = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Object> restarted = new CompletableFuture<>();
  private volatile boolean leading = true;
  private volatile @Nullable Throwable trouble;
  private final LinkAppender appender =
      new LinkAppender(
          fake(RaftServer.Division.class, this::ofDivision),
          fake(LeaderState.class, this::ofLeader),
          fake(FollowerInfo.class, this::ofFollower),
          rpc,
          new TransportSettings(
              RaftServices.DEFAULT,
              "the registry's log",
              Duration.ofHours(1),
              Duration.ofHours(1),
              Duration.ofHours(1),
              Duration.ofMillis(10)));

  private @Nullable Object ofDivision(String method, Object[] arguments) {
    return switch (method) {
      case "getRaftServer" -> fake(RaftServer.class, (name, none) -> new RaftProperties());
      case "getThreadGroup" -> Thread.currentThread().getThreadGroup();
      case "getInfo" -> fake(DivisionInfo.class, (name, none) -> leading);
      case "getRaftLog" -> fake(RaftLog.class, this::ofLog);
      case "properties" ->
          fake(
              DivisionProperties.class,
              (name, none) ->
                  name.equals("minRpcTimeoutMs") ? RPC_TIMEOUT_MILLIS : TimeDuration.ZERO);
      case "getStateMachine" -> fake(StateMachine.class, (name, none) -> null);
      default -> throw unexpected(method);
    };
  }

  private Object ofLog(String method, Object[] arguments) {
    return switch (method) {
      case "isOpened" -> true;
      case "getStartIndex" -> 0L;
      case "getNextIndex" -> logNext.get();
      case "getLastCommittedIndex" -> -1L;
      case "getTermIndex" -> TermIndex.valueOf(TERM, (long) arguments[0]);
      case "getEntryWithData" -> new Entry((long) arguments[0]);
      default -> throw unexpected(method);
    };
  }

  private record Entry(long index) implements RaftLog.EntryWithData {
    @Override
    public int getSerializedSize() {
      return 10;
    }

    @Override
    public LogEntryProto getEntry(TimeDuration timeout) {
      return LogEntryProto.newBuilder().setTerm(TERM).setIndex(index).build();
    }
  }

  private @Nullable Object ofFollower(String method, Object[] arguments) {
    switch (method) {
      case "getName" -> {
        return "bus-b";
      }
      case "getId" -> {
        return RaftPeerId.valueOf("bus-b");
      }
      case "getNextIndex" -> {
        return followerNext.get();
      }
      case "increaseNextIndex", "setNextIndex" -> followerNext.set((long) arguments[0]);
      case "getMatchIndex" -> {
        return followerMatch.get();
      }
      case "updateMatchIndex" -> {
        return followerMatch.getAndSet((long) arguments[0]) != (long) arguments[0];
      }
      case "getCommitIndex", "getSnapshotIndex" -> {
        return -1L;
      }
      case "hasAttemptedToInstallSnapshot" -> {
        return true;
      }
      case "getLastRpcResponseTime", "getLastRpcSendTime", "getLastHeartbeatSendTime" -> {
        return start;
      }
      case "updateLastRpcResponseTime",
          "updateLastRpcSendTime",
          "updateLastRespondedAppendEntriesSendTime" -> {
        // The time is no matter here.
      }
      default -> throw unexpected(method);
    }
    return null;
  }

  @SuppressWarnings("unchecked") // the entries of a request
  private @Nullable Object ofLeader(String method, Object[] arguments) throws Throwable {
    switch (method) {
      case "newAppendEntriesRequestProto" -> {
        AppendEntriesRequestProto.Builder request =
            AppendEntriesRequestProto.newBuilder()
                .setLeaderTerm(TERM)
                .addAllEntries((List<LogEntryProto>) arguments[1]);
        if (arguments[2] instanceof TermIndex previous) {
          request.setPreviousLog(previous.toProto());
        }
        return request.build();
      }
      case "isFollowerBootstrapping" -> {
        return false;
      }
      case "onFollowerCommitIndex" -> {
        Throwable thrown = trouble;
        if (thrown != null) {
          throw thrown;
        }
      }
      case "onFollowerSuccessAppendEntries" -> counted.add(Thread.currentThread());
      case "restart" -> restarted.complete(arguments[0]);
      case "checkHealth", "onAppendEntriesReply" -> {
        // Irrelevant here.
      }
      default -> throw unexpected(method);
    }
    return null;
  }

  /** Message, the thread that has sent it, and its future answer. */
  private record Sent(
      AppendEntriesRequestProto request,
      Thread thread,
      CompletableFuture<AppendEntriesReplyProto> answer) {
    List<Long> indices() {
      return request.getEntriesList().stream().map(LogEntryProto::getIndex).toList();
    }

    /** Answers that the follower has everything up to the last entry of the message. */
    void succeed() {
      long previous = request.hasPreviousLog() ? request.getPreviousLog().getIndex() : -1;
      answer.complete(
          AppendEntriesReplyProto.newBuilder()
              .setTerm(TERM)
              .setResult(AppendResult.SUCCESS)
              .setNextIndex(previous + 1 + request.getEntriesCount())
              .build());
    }
  }

  /** Transport that records what is sent; the test answers. */
  private static final class Rpc implements FollowerRpc {
    private final Queue<Sent> atOnce = new ConcurrentLinkedQueue<>();
    private final BlockingQueue<Sent> waiting = new LinkedBlockingQueue<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile @Nullable Error failure;

    @Override
    public CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request) {
      Error error = failure;
      if (error != null) {
        failure = null;
        throw error;
      }
      Sent sent = new Sent(request, Thread.currentThread(), new CompletableFuture<>());
      atOnce.add(sent);
      return sent.answer();
    }

    @Override
    public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
        throws IOException {
      Sent sent = new Sent(request, Thread.currentThread(), new CompletableFuture<>());
      waiting.add(sent);
      try {
        return sent.answer().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw new IOException(e);
      } catch (InterruptedException e) {
        throw (IOException) new InterruptedIOException().initCause(e);
      }
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) {
      throw new UnsupportedOperationException();
    }

    /**
     * Keeps the appender's thread, which comes here when it has given its turn back after its first
     * success.
     */
    @Override
    public void after(Duration delay, Runnable task) {
      begun.countDown();
      try {
        assertThat(released.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    void release() {
      released.countDown();
    }

    /** Returns the next message of the appender's thread. */
    Sent nextWaiting() throws InterruptedException {
      Sent sent = waiting.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
      assertThat(sent).as("a message of the appender's thread").isNotNull();
      return sent;
    }

    /** Returns the message that another thread has sent. */
    Sent onlyOneAtOnce() {
      assertThat(atOnce).hasSize(1);
      return atOnce.remove();
    }
  }

  /**
   * Answers the first entry, which the appender's thread has sent, and keeps that thread from then
   * on.
   */
  @BeforeEach
  void succeedOnce() throws InterruptedException {
    logNext.set(1);
    appender.start();
    Sent first = rpc.nextWaiting();
    assertThat(first.indices()).containsExactly(0L);
    first.succeed();
    assertThat(rpc.begun.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(followerNext).hasValue(1);
    counted.clear();
  }

  @AfterEach
  void stop() throws Exception {
    leading = false;
    var stopped = appender.stopAsync();
    rpc.release();
    stopped.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  private void appendAndNotify() {
    logNext.incrementAndGet();
    appender.notifyLogAppender();
  }

  @Test
  void anEntryGoesOnTheThreadThatAppendsItAndIsCountedOnTheOneThatBringsTheAnswer()
      throws InterruptedException {
    appendAndNotify();
    Sent sent = rpc.onlyOneAtOnce();
    assertThat(sent.indices()).containsExactly(1L);
    assertThat(sent.request().getPreviousLog().getIndex()).isZero();
    assertThat(sent.thread()).isSameAs(Thread.currentThread());
    assertThat(followerMatch).hasValue(0);

    Thread link = new Thread(sent::succeed, "link");
    link.start();
    link.join();
    assertThat(counted).containsExactly(link);
    assertThat(followerNext).hasValue(2);
    assertThat(followerMatch).hasValue(1);
    assertThat(rpc.atOnce).isEmpty();
    assertThat(rpc.waiting).isEmpty();
  }

  @Test
  void sendsNewEntriesAfterTheAnswerUnderWay() {
    appendAndNotify();
    Sent first = rpc.onlyOneAtOnce();
    appendAndNotify();
    appendAndNotify();
    assertThat(rpc.atOnce).isEmpty();

    first.succeed();
    Sent second = rpc.onlyOneAtOnce();
    assertThat(second.indices()).containsExactly(2L, 3L);
    second.succeed();
    assertThat(rpc.atOnce).isEmpty();
    assertThat(followerNext).hasValue(4);
    assertThat(followerMatch).hasValue(3);
  }

  @Test
  void theThreadSendsAgainWhatHasFailedAndTheNextEntryGoesAtOnceAgain() throws Exception {
    appendAndNotify();
    rpc.onlyOneAtOnce().answer().completeExceptionally(new IOException("no answer"));
    // Nobody hurries to a follower that does not answer.
    appendAndNotify();
    assertThat(rpc.atOnce).isEmpty();

    rpc.release();
    Sent again = rpc.nextWaiting();
    assertThat(again.indices()).containsExactly(1L, 2L);
    // And the thread does so until there is an answer.
    again.answer().completeExceptionally(new IOException("no answer"));
    Sent heartbeat = rpc.nextWaiting();
    assertThat(heartbeat.indices()).isEmpty();
    heartbeat.answer().completeExceptionally(new IOException("no answer"));
    Sent third = rpc.nextWaiting();
    assertThat(third.request()).isEqualTo(again.request());
    third.succeed();
    succeedsWith(3);
  }

  @Test
  void aFollowerThatTakesNoEntriesHearsOfItsLeaderMeanwhile() throws Exception {
    appendAndNotify();
    rpc.onlyOneAtOnce().answer().completeExceptionally(new IOException("not on the disk"));
    rpc.release();
    for (int times = 0; times < 3; times++) {
      Sent entries = rpc.nextWaiting();
      assertThat(entries.indices()).containsExactly(1L);
      entries.answer().completeExceptionally(new IOException("not on the disk"));
      Sent heartbeat = rpc.nextWaiting();
      assertThat(heartbeat.indices()).isEmpty();
      heartbeat.succeed();
    }
    assertThat(followerMatch).hasValue(0);
    rpc.nextWaiting().succeed();
    succeedsWith(2);
    assertThat(followerMatch).hasValue(1);
  }

  @Test
  void aFollowerThatIsAwayIsToldOfOnceAndThatItIsBack() throws Exception {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(LinkAppender.class);
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(lines);
    lines.start();
    try {
      appendAndNotify();
      rpc.onlyOneAtOnce().answer().completeExceptionally(new IOException("refused"));
      rpc.release();
      for (int times = 0; times < 20; times++) {
        rpc.nextWaiting().answer().completeExceptionally(new IOException("refused"));
      }
      Sent entries = rpc.nextWaiting();
      assertThat(entries.indices()).containsExactly(1L);
      entries.succeed();
      succeedsWith(2);
    } finally {
      logger.detachAppender(lines);
      logger.setAdditive(true);
      logger.setLevel(null);
    }
    List<String> texts = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    assertThat(texts).hasSize(2);
    assertThat(texts.get(0)).startsWith("Bus bus-b does not accept the registry's log: ");
    assertThat(texts.get(1)).startsWith("Bus bus-b accepts the registry's log again, after ");
  }

  /** Answers another entry, whichever thread sends it: both may, as soon as there is an answer. */
  private void succeedsWith(long index) throws InterruptedException {
    appendAndNotify();
    Sent sent = null;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (sent == null && System.nanoTime() < end) {
      sent = rpc.atOnce.poll();
      if (sent == null) {
        sent = rpc.waiting.poll(1, TimeUnit.MILLISECONDS);
      }
    }
    assertThat(sent).as("a message with the next entry").isNotNull();
    assertThat(sent.indices()).containsExactly(index);
  }

  @Test
  void anErrorWhileSendingNeitherReachesWhoAppendsNorKeepsTheTurn() throws Exception {
    rpc.failure = new StackOverflowError("once");
    appendAndNotify();
    assertThat(rpc.failure).isNull();
    assertThat(rpc.atOnce).isEmpty();

    rpc.release();
    Sent again = rpc.nextWaiting();
    assertThat(again.indices()).containsExactly(1L);
    again.succeed();
    succeedsWith(2);
  }

  @Test
  void anAnswerThatCannotBeCountedRestartsTheAppender() throws Exception {
    trouble = new IllegalStateException("no such commit");
    appendAndNotify();
    rpc.onlyOneAtOnce().succeed();
    rpc.release();
    assertThat(restarted.get(DEADLINE_SECONDS, TimeUnit.SECONDS)).isSameAs(appender);
    assertThat(rpc.atOnce).isEmpty();
    assertThat(rpc.waiting).isEmpty();
  }

  @Test
  void anAnswerThatEntriesAreMissingIsLeftToTheThread() throws Exception {
    appendAndNotify();
    rpc.onlyOneAtOnce()
        .answer()
        .complete(
            AppendEntriesReplyProto.newBuilder()
                .setTerm(TERM)
                .setResult(AppendResult.INCONSISTENCY)
                .setNextIndex(0)
                .build());
    assertThat(rpc.atOnce).isEmpty();
    assertThat(followerNext).hasValue(0);
    rpc.release();
    Sent again = rpc.nextWaiting();
    assertThat(again.indices()).containsExactly(0L, 1L);
    again.succeed();
    succeedsWith(2);
  }

  @Test
  void aFollowerThatIsFarBehindIsLeftToTheThread() throws Exception {
    logNext.addAndGet(8);
    appendAndNotify();
    assertThat(rpc.atOnce).isEmpty();
    rpc.release();
    assertThat(rpc.nextWaiting().indices()).hasSize(9);
  }

  @Test
  void aHeartbeatThatIsAskedForDuringAMessageGoesAfterIt() {
    appendAndNotify();
    Sent first = rpc.onlyOneAtOnce();
    appender.triggerHeartbeat();
    assertThat(rpc.atOnce).isEmpty();
    first.succeed();
    Sent heartbeat = rpc.onlyOneAtOnce();
    assertThat(heartbeat.indices()).isEmpty();
    assertThat(heartbeat.request().getPreviousLog().getIndex()).isEqualTo(1);
    heartbeat.succeed();
    assertThat(rpc.atOnce).isEmpty();
    assertThat(followerNext).hasValue(2);
  }

  @Test
  void aHeartbeatThatIsAskedForDuringAMessageOfTheThreadGoesAfterIt() throws Exception {
    appendAndNotify();
    rpc.onlyOneAtOnce().answer().completeExceptionally(new IOException("no answer"));
    rpc.release();
    Sent again = rpc.nextWaiting();
    appender.triggerHeartbeat();
    again.succeed();
    Sent heartbeat = rpc.nextWaiting();
    assertThat(heartbeat.indices()).isEmpty();
    heartbeat.succeed();
    succeedsWith(2);
  }

  @Test
  void appendingWithoutAFollowerNeitherSendsNorFails() throws Exception {
    appendAndNotify();
    rpc.onlyOneAtOnce().answer().completeExceptionally(new IOException("no answer"));
    rpc.release();
    Sent again = rpc.nextWaiting();
    for (int entries = 0; entries < 100_000; entries++) {
      appender.notifyLogAppender();
    }
    assertThat(rpc.atOnce).isEmpty();
    assertThat(rpc.waiting).isEmpty();
    again.succeed();
    succeedsWith(2);
  }

  @Test
  void aFormerLeaderSendsNothing() {
    leading = false;
    appendAndNotify();
    assertThat(rpc.atOnce).isEmpty();
  }
}
