package io.eventbus.registry.ratis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a leader's log to one follower.
 *
 * <p>The engine's own appender has a thread for each follower, which waits for the answer to each
 * message: with the links, four changes of threads for one entry and one follower. Here an entry
 * leaves on the thread that has appended it, and the answer is counted on the thread that moves the
 * link's bytes, which sends the heartbeats, too. What must not be done there, because it may wait
 * or read from the disk, is left to the thread of the appender: snapshots, what a follower is to be
 * sent that is far behind or has just been taken in, and whatever went wrong.
 *
 * <p>As with the engine's own, one message is under way at a time. Whoever sends it has the turn,
 * and looks after giving it back whether there is more to be sent, so that nobody else needs to be
 * woken for that.
 */
final class LinkAppender extends LogAppenderBase {
  private static final Logger log = LoggerFactory.getLogger(LinkAppender.class);

  /** So many of the newest entries are in memory for certain; a few messages' worth. */
  private static final int MOST_BEHIND = 64;

  /** One of so many failures in a row is logged. */
  private static final int LOGGED_FAILURES = 10;

  /**
   * After so long without a message, a follower is told what is committed: well below what anybody
   * notices, well above the time between entries under load.
   */
  private static final Duration COMMIT_DELAY = Duration.ofMillis(10);

  /** A heartbeat may go a little early, so that nobody is woken twice for it. */
  private static final int EARLY_MILLIS = 5;

  /** How often the appender's thread looks while nobody needs it. */
  private static final int IDLE_MILLIS = 1_000;

  private final RaftTransport transport;
  private final AtomicBoolean telling = new AtomicBoolean();
  private final AtomicBoolean beating = new AtomicBoolean();

  /** Whether somebody has the turn. */
  private final AtomicBoolean turn = new AtomicBoolean();

  /** Whether the last message came to what was expected, so that the next one may go at once. */
  private volatile boolean smooth;

  /** For the appender's thread. The engine's own signal is lost on who is about to wait for it. */
  private final Semaphore calls = new Semaphore(0);

  private volatile @Nullable Throwable broken;

  /** A message and its answer. */
  private record Exchange(AppendEntriesRequestProto request, AppendEntriesReplyProto reply) {
    boolean isHeartbeat() {
      return request.getEntriesCount() == 0;
    }

    long firstIndex() {
      return isHeartbeat() ? RaftLog.INVALID_LOG_INDEX : request.getEntries(0).getIndex();
    }

    long previousIndex() {
      return request.hasPreviousLog()
          ? request.getPreviousLog().getIndex()
          : RaftLog.INVALID_LOG_INDEX;
    }
  }

  LinkAppender(
      RaftServer.Division server,
      LeaderState leader,
      FollowerInfo follower,
      RaftTransport transport) {
    super(server, leader, follower);
    this.transport = transport;
  }

  @Override
  public long getCallId() {
    return CallId.get();
  }

  @Override
  public Comparator<Long> getCallIdComparator() {
    return CallId.getComparator();
  }

  /** Entries were appended, or something else has changed. Any thread, perhaps with locks held. */
  @Override
  public void notifyLogAppender() {
    if (!shouldSendAppendEntries()) {
      tellCommitSoon();
      return;
    }
    if (!smooth) {
      calls.release();
    } else if (turn.compareAndSet(false, true)) {
      sendAtOnce();
    }
  }

  /**
   * Sees to it that the follower applies what is committed, also if no entry comes that would tell
   * it. The engine's own appender leaves that to the next heartbeat.
   */
  private void tellCommitSoon() {
    if (smooth && isBehindCommit() && telling.compareAndSet(false, true)) {
      try {
        transport.after(COMMIT_DELAY, this::tellCommit);
      } catch (RejectedExecutionException e) {
        log.debug("{}: this bus ends", this);
      }
    }
  }

  private void tellCommit() {
    telling.set(false);
    if (!isRunning() || !isBehindCommit()) {
      return;
    }
    if (getFollower().getLastRpcSendTime().elapsedTimeMs() < COMMIT_DELAY.toMillis()) {
      // Entries are on their way, one after the other, and tell it.
      tellCommitSoon();
    } else {
      triggerHeartbeat();
    }
  }

  /** Heartbeats while all goes well, without the appender's thread. */
  private void beat() {
    if (!isRunning() || !smooth) {
      beating.set(false);
      // It may have become so again just now.
      beatOn();
      return;
    }
    long left = getHeartbeatWaitTimeMs();
    if (left <= EARLY_MILLIS) {
      triggerHeartbeat();
      left = heartbeatMillis();
    }
    beatAfter(left);
  }

  private void beatOn() {
    if (isRunning() && smooth && beating.compareAndSet(false, true)) {
      beatAfter(Math.max(0, getHeartbeatWaitTimeMs()));
    }
  }

  private void beatAfter(long millis) {
    try {
      transport.after(Duration.ofMillis(millis), this::beat);
    } catch (RejectedExecutionException e) {
      log.debug("{}: this bus ends", this);
    }
  }

  private long heartbeatMillis() {
    return getServer().properties().minRpcTimeoutMs() / 2;
  }

  private boolean isBehindCommit() {
    return getFollower().getCommitIndex() < getRaftLog().getLastCommittedIndex();
  }

  // Whatever goes wrong, the turn must be given back.
  @SuppressWarnings("CatchingUnchecked")
  private void sendAtOnce() {
    AppendEntriesRequestProto request = null;
    try {
      if (isRunning() && isNear()) {
        request = newAppendEntriesRequest(CallId.getAndIncrement(), false);
      }
    } catch (Exception e) {
      broken = e;
    }
    if (request == null) {
      leaveToThread();
      return;
    }
    AppendEntriesRequestProto message = request;
    Timestamp sent = noteSending(message);
    var unused =
        transport
            .append(message)
            .whenComplete(
                (reply, error) -> {
                  if (error == null) {
                    onReply(new Exchange(message, reply), sent);
                  } else {
                    // It tries again, and says what goes wrong if that fails, too.
                    leaveToThread();
                  }
                });
  }

  // Whatever goes wrong, the turn must be given back.
  @SuppressWarnings("CatchingUnchecked")
  private void onReply(Exchange exchange, Timestamp sent) {
    boolean fine = false;
    try {
      fine = isRunning() && isSuccess(exchange.reply());
      if (isRunning()) {
        handle(exchange, sent);
      }
    } catch (Exception e) {
      fine = false;
      broken = e;
    }
    if (fine) {
      turn.set(false);
      notifyLogAppender();
    } else {
      leaveToThread();
    }
  }

  private void leaveToThread() {
    smooth = false;
    turn.set(false);
    calls.release();
  }

  private static boolean isSuccess(AppendEntriesReplyProto reply) {
    return reply.getResult() == AppendResult.SUCCESS;
  }

  /** Whether what the follower lacks is little, and in memory. */
  private boolean isNear() {
    return getRaftLog().getNextIndex() - getFollower().getNextIndex() <= MOST_BEHIND
        && !getLeaderState().isFollowerBootstrapping(getFollower())
        && shouldInstallSnapshot() == null;
  }

  @Override
  public void run() throws InterruptedException, IOException {
    while (isRunning()) {
      rethrow(broken);
      boolean waiting = false;
      if (shouldSendAppendEntries()) {
        waiting = !turn.compareAndSet(false, true);
        if (!waiting) {
          sendOnThread();
        }
      }
      if (isRunning() && (waiting || !hasAppendEntries())) {
        await(waiting);
      }
      getLeaderState().checkHealth(getFollower());
    }
  }

  private static void rethrow(@Nullable Throwable error) throws IOException {
    if (error != null) {
      throw new IOException("a message to a follower, or its answer", error);
    }
  }

  private void await(boolean forTurn) throws InterruptedException {
    // Who has the turn needs no help, and calls when it does.
    long limit = forTurn ? heartbeatMillis() : getHeartbeatWaitTimeMs();
    if (calls.tryAcquire(smooth ? IDLE_MILLIS : limit, TimeUnit.MILLISECONDS)) {
      calls.drainPermits();
    }
  }

  private void sendOnThread() throws InterruptedException, IOException {
    boolean fine = false;
    try {
      SnapshotInfo snapshot = shouldInstallSnapshot();
      if (snapshot != null) {
        send(snapshot);
      } else {
        fine = sendEntries();
      }
    } finally {
      smooth = fine;
      turn.set(false);
    }
    beatOn();
  }

  /** Until there is an answer, or nothing to be sent any more. */
  private boolean sendEntries() throws InterruptedException, IOException {
    AppendEntriesRequestProto request = null;
    for (int failures = 0; isRunning(); failures++) {
      if (request == null || request.getEntriesCount() == 0) {
        request = newAppendEntriesRequest(CallId.getAndIncrement(), false);
      }
      if (request == null) {
        return false;
      }
      Timestamp sent = noteSending(request);
      try {
        AppendEntriesReplyProto reply = transport.appendEntries(request);
        handle(new Exchange(request, reply), sent);
        return isSuccess(reply);
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        if (failures % LOGGED_FAILURES == 0) {
          log.warn("{}: {} failures in a row, the last one: {}", this, failures + 1, e.toString());
        }
      }
      if (isRunning()) {
        getServer().properties().rpcSleepTime().sleep();
      }
    }
    return false;
  }

  private Timestamp noteSending(AppendEntriesRequestProto request) {
    resetHeartbeatTrigger();
    Timestamp now = Timestamp.currentTime();
    getFollower().updateLastRpcSendTime(request.getEntriesCount() == 0);
    return now;
  }

  private void handle(Exchange exchange, Timestamp sent) {
    AppendEntriesReplyProto reply = exchange.reply();
    FollowerInfo follower = getFollower();
    follower.updateLastRpcResponseTime();
    follower.updateLastRespondedAppendEntriesSendTime(sent);
    getLeaderState().onFollowerCommitIndex(follower, reply.getFollowerCommit());
    switch (reply.getResult()) {
      case SUCCESS -> advance(exchange);
      case NOT_LEADER -> onFollowerTerm(reply.getTerm());
      case INCONSISTENCY ->
          follower.setNextIndex(
              getNextIndexForInconsistency(exchange.firstIndex(), reply.getNextIndex()));
      default -> throw new IllegalStateException(this + ": result: " + reply.getResult());
    }
    getLeaderState().onAppendEntriesReply(this, reply);
  }

  private void advance(Exchange exchange) {
    FollowerInfo follower = getFollower();
    long before = follower.getNextIndex();
    long next =
        exchange.isHeartbeat()
            ? Math.max(before, exchange.previousIndex() + 1)
            : exchange.reply().getNextIndex();
    if (next < before) {
      throw new IllegalStateException(
          this + ": next index: " + next + " (expected: at least " + before + ")");
    }
    if (next > before) {
      follower.updateMatchIndex(next - 1);
      follower.increaseNextIndex(next);
      getLeaderState().onFollowerSuccessAppendEntries(follower);
    }
  }

  private void send(SnapshotInfo snapshot) throws InterruptedIOException {
    FollowerInfo follower = getFollower();
    log.info(
        "{}: the follower's next entry is {}, the log begins at {}: it is sent the snapshot {}",
        this,
        follower.getNextIndex(),
        getRaftLog().getStartIndex(),
        snapshot);
    InstallSnapshotReplyProto last;
    try {
      last = sendChunks(snapshot);
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      log.warn("{}: the snapshot {} was not taken: {}", this, snapshot, e.toString());
      return;
    }
    if (last == null) {
      return;
    }
    if (last.getServerReply().getSuccess()) {
      follower.setSnapshotIndex(snapshot.getTermIndex().getIndex());
      log.info("{}: the follower has the snapshot {}", this, snapshot);
    }
    switch (last.getResult()) {
      case NOT_LEADER -> onFollowerTerm(last.getTerm());
      case SUCCESS, SNAPSHOT_UNAVAILABLE, ALREADY_INSTALLED, SNAPSHOT_EXPIRED ->
          follower.setAttemptedToInstallSnapshot();
      default -> {
        // It is sent again.
      }
    }
  }

  /** The answer to the last one that was sent: to the first that was not taken, if there is one. */
  private @Nullable InstallSnapshotReplyProto sendChunks(SnapshotInfo snapshot) throws IOException {
    InstallSnapshotReplyProto reply = null;
    for (InstallSnapshotRequestProto request :
        newInstallSnapshotRequests(UUID.randomUUID().toString(), snapshot)) {
      getFollower().updateLastRpcSendTime(false);
      reply = transport.installSnapshot(request);
      getFollower().updateLastRpcResponseTime();
      if (!reply.getServerReply().getSuccess()) {
        return reply;
      }
    }
    return reply;
  }
}
