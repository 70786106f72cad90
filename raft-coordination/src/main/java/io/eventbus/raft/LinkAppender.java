package io.eventbus.raft;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
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
 * Appender of a leader's log to one follower.
 *
 * <p>Ratis's own appender has a thread for each follower, which waits for the answer to each
 * message: with the links, four changes of threads for one entry and one follower. Here an entry
 * leaves on the thread that has appended it, and the answer is counted on the thread that moves the
 * link's bytes, which sends the heartbeats, too. Work that must not be done there, because it may
 * wait or read from the disk, is left to the thread of the appender: snapshots, entries for a
 * follower that is far behind, and every failure.
 *
 * <p>As with Ratis's own, one message is under way at a time. The thread that sends it has the
 * turn, and checks after giving it back whether there is more to be sent, so that no other thread
 * needs to be woken for that.
 */
final class LinkAppender extends LogAppenderBase implements HeartbeatScheduler.Follower {
  private static final Logger log = LoggerFactory.getLogger(LinkAppender.class);

  /**
   * Number of the newest entries that are in memory as a rule: as many of them are smaller than the
   * segments of the log that are kept there.
   */
  private static final int MAX_BEHIND = 8;

  /** Maximum pause between entries that are not accepted, in pauses of Ratis's. */
  private static final int MAX_PAUSES = 4;

  /** Interval at which the appender's thread looks while it is not called. */
  private static final int IDLE_MILLIS = 1_000;

  private final FollowerRpc rpc;
  private final SnapshotSender snapshots;
  private final HeartbeatScheduler heartbeats;
  private final FollowerSilence silence;

  /** Set while a thread has the turn. */
  private final AtomicBoolean turn = new AtomicBoolean();

  /** Set if the last message had the expected result, so that the next one may go at once. */
  private volatile boolean smooth;

  /**
   * Wake-ups of the appender's thread. Ratis's own signal is lost if it comes just before the wait.
   */
  private final Semaphore calls = new Semaphore(0);

  private volatile @Nullable Throwable broken;

  LinkAppender(
      RaftServer.Division server,
      LeaderState leader,
      FollowerInfo follower,
      FollowerRpc rpc,
      TransportSettings settings) {
    super(server, leader, follower);
    this.rpc = rpc;
    this.snapshots = new SnapshotSender(this, rpc);
    this.silence = new FollowerSilence(log, settings.content(), System::nanoTime);
    this.heartbeats = new HeartbeatScheduler(this, rpc, heartbeatMillis(), settings.commitDelay());
  }

  @Override
  public long getCallId() {
    return CallId.get();
  }

  @Override
  public Comparator<Long> getCallIdComparator() {
    return CallId.getComparator();
  }

  /**
   * Called when entries were appended, or something else has changed. Any thread, perhaps with
   * locks held.
   */
  @Override
  public void notifyLogAppender() {
    if (!shouldSendAppendEntries()) {
      heartbeats.tellCommit();
    } else if (!smooth) {
      call();
    } else if (turn.compareAndSet(false, true)) {
      sendAtOnce();
    }
  }

  private void call() {
    // A few too many do no harm; a follower may be away for months.
    if (calls.availablePermits() == 0) {
      calls.release();
    }
  }

  @Override
  public boolean isActive() {
    return smooth && isRunning();
  }

  @Override
  public long untilHeartbeatMillis() {
    return getHeartbeatWaitTimeMs();
  }

  @Override
  public long silenceMillis() {
    return getFollower().getLastRpcSendTime().elapsedTimeMs();
  }

  @Override
  public boolean isBehindCommit() {
    return getFollower().getCommitIndex() < getRaftLog().getLastCommittedIndex();
  }

  @Override
  public void heartbeat() {
    triggerHeartbeat();
    // The base looks after it only when it was not asked for already.
    notifyLogAppender();
  }

  /**
   * Sends, with the turn, which is given back after any error; nothing is thrown, because locks are
   * held.
   */
  private void sendAtOnce() {
    AppendEntriesRequestProto request = null;
    CompletableFuture<AppendEntriesReplyProto> answer;
    Timestamp sent;
    try {
      if (isRunning() && isNear()) {
        request = newAppendEntriesRequest(CallId.getAndIncrement(), false);
      }
      if (request == null) {
        nothingToSend();
        return;
      }
      sent = noteSending(request);
      answer = rpc.append(request);
    } catch (Throwable e) {
      // The thread tries the same, and fails with the error.
      log.warn("{}: a message was not sent", this, e);
      leaveToThread();
      return;
    }
    AppendEntriesRequestProto message = request;
    var unused =
        answer.whenComplete(
            (reply, error) -> {
              if (error == null) {
                onReply(new Exchange(message, reply), sent);
              } else {
                // The thread tries again, and reports the error if that fails, too.
                leaveToThread();
              }
            });
  }

  /**
   * Gives up the turn: another thread was faster, or there is something that is not to be sent from
   * here.
   */
  private void nothingToSend() {
    turn.set(false);
    if (shouldSendAppendEntries()) {
      smooth = false;
      call();
    }
  }

  private void onReply(Exchange exchange, Timestamp sent) {
    boolean fine = false;
    try {
      if (isRunning()) {
        handle(exchange, sent);
        silence.answered(getFollowerId());
        fine = exchange.isSuccess();
      }
    } catch (Throwable e) {
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
    call();
  }

  /** Returns whether the entries that the follower lacks are few, and in memory. */
  private boolean isNear() {
    FollowerInfo follower = getFollower();
    long next = follower.getNextIndex();
    long start = getRaftLog().getStartIndex();
    long behind = getRaftLog().getNextIndex() - next;
    boolean hasSnapshot =
        follower.hasAttemptedToInstallSnapshot()
            || !getLeaderState().isFollowerBootstrapping(follower);
    return hasSnapshot
        && behind <= MAX_BEHIND
        && (behind <= 0 || (start != RaftLog.INVALID_LOG_INDEX && next > start));
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
      if (isRunning() && (waiting || !shouldSendAppendEntries())) {
        await(waiting);
      }
      getLeaderState().checkHealth(getFollower());
    }
  }

  private static void rethrow(@Nullable Throwable error) throws IOException {
    if (error != null) {
      throw new IOException("the answer of a follower", error);
    }
  }

  private void await(boolean forTurn) throws InterruptedException {
    // The thread with the turn needs no help, and calls when it does.
    long limit = forTurn ? heartbeatMillis() : getHeartbeatWaitTimeMs();
    if (calls.tryAcquire(smooth ? IDLE_MILLIS : limit, TimeUnit.MILLISECONDS)) {
      calls.drainPermits();
    }
  }

  private long heartbeatMillis() {
    return getServer().properties().minRpcTimeoutMs() / 2;
  }

  private void sendOnThread() throws InterruptedException, IOException {
    boolean fine = false;
    try {
      SnapshotInfo snapshot = shouldInstallSnapshot();
      if (snapshot != null
          && snapshot.getFiles().isEmpty()
          && !getFollower().hasAttemptedToInstallSnapshot()) {
        // There is nothing to send; a member that is new may need nothing but entries.
        getFollower().setAttemptedToInstallSnapshot();
        snapshot = shouldInstallSnapshot();
      }
      if (snapshot == null) {
        fine = sendEntries();
      } else if (snapshot.getFiles().isEmpty()) {
        leaveBehind();
      } else {
        snapshots.send(snapshot);
      }
    } finally {
      smooth = fine;
      turn.set(false);
    }
    heartbeats.begin();
    heartbeats.tellCommit();
  }

  /**
   * Tells the follower that the entries that it needs are gone: no snapshot of this group can be
   * sent. Heartbeats go on, so that it does not stand for election.
   */
  private void leaveBehind() throws InterruptedException, IOException {
    snapshots.tellBegin();
    if (shouldInstallSnapshot() != null && beat()) {
      TimeUnit.MILLISECONDS.sleep(heartbeatMillis());
    }
  }

  /** Sends entries until there is an answer, or nothing to be sent any more. */
  private boolean sendEntries() throws InterruptedException, IOException {
    AppendEntriesRequestProto request = null;
    for (int failures = 0; isRunning(); failures++) {
      if (request == null || request.getEntriesCount() == 0) {
        request = newAppendEntriesRequest(CallId.getAndIncrement(), false);
      }
      if (request == null) {
        return false;
      }
      try {
        boolean success = exchange(request).isSuccess();
        silence.answered(getFollowerId());
        return success;
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        silence.failed(getFollowerId(), e);
      }
      boolean entries = request.getEntriesCount() > 0;
      pause(entries ? Math.min(failures + 1, MAX_PAUSES) : 1);
      if (entries && !beat()) {
        return false;
      }
    }
    return false;
  }

  /**
   * Sends a heartbeat between entries that are not accepted: a follower whose disk is slow is to
   * know that its leader lives, and to answer that it lives itself.
   *
   * @return whether the entries may be sent again
   */
  private boolean beat() throws IOException {
    AppendEntriesRequestProto heartbeat = newAppendEntriesRequest(CallId.getAndIncrement(), true);
    if (heartbeat == null || !isRunning()) {
      return true;
    }
    try {
      return exchange(heartbeat).isSuccess();
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      silence.failed(getFollowerId(), e);
      return true;
    }
  }

  private Exchange exchange(AppendEntriesRequestProto request) throws IOException {
    Timestamp sent = noteSending(request);
    Exchange exchange = new Exchange(request, rpc.appendEntries(request));
    handle(exchange, sent);
    return exchange;
  }

  private void pause(int pauses) throws InterruptedException {
    if (isRunning()) {
      long millis = getServer().properties().rpcSleepTime().toLong(TimeUnit.MILLISECONDS);
      TimeUnit.MILLISECONDS.sleep(Math.min(pauses * millis, heartbeatMillis()));
    }
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
      default -> log.warn("{}: an answer of a later version: {}", this, reply.getResult());
    }
    getLeaderState().onAppendEntriesReply(this, reply);
  }

  private void advance(Exchange exchange) {
    FollowerInfo follower = getFollower();
    long before = follower.getNextIndex();
    long next = exchange.nextIndex(before);
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
}
