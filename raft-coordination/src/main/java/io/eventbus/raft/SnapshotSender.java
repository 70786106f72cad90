package io.eventbus.raft;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sender of a snapshot to a follower that lacks more than the log has. It waits for each answer.
 */
final class SnapshotSender {
  private static final Logger log = LoggerFactory.getLogger(SnapshotSender.class);

  private static final int TELL_MILLIS = 1_000;

  private final LogAppender appender;
  private final FollowerRpc rpc;

  private @Nullable Timestamp told;
  private boolean logged;

  SnapshotSender(LogAppender appender, FollowerRpc rpc) {
    this.appender = appender;
    this.rpc = rpc;
  }

  /**
   * Sends the snapshot once; if it is not accepted, it is sent again when the appender next looks.
   */
  void send(SnapshotInfo snapshot) throws InterruptedIOException {
    FollowerInfo follower = appender.getFollower();
    log.info(
        "{}: the follower's next entry is {}, the log begins at {}: it is sent the snapshot {}",
        appender,
        follower.getNextIndex(),
        appender.getRaftLog().getStartIndex(),
        snapshot);
    InstallSnapshotReplyProto last;
    try {
      last = sendChunks(snapshot);
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      log.warn("{}: the snapshot {} was not taken: {}", appender, snapshot, e.toString());
      return;
    }
    if (last == null) {
      return;
    }
    if (last.getServerReply().getSuccess()) {
      follower.setSnapshotIndex(snapshot.getTermIndex().getIndex());
      log.info("{}: the follower has the snapshot {}", appender, snapshot);
    }
    switch (last.getResult()) {
      case NOT_LEADER -> appender.onFollowerTerm(last.getTerm());
      case SUCCESS, SNAPSHOT_UNAVAILABLE, ALREADY_INSTALLED, SNAPSHOT_EXPIRED ->
          follower.setAttemptedToInstallSnapshot();
      default -> {
        // Sent again later.
      }
    }
  }

  /**
   * Tells the follower where the log begins, behind what it is known to have, and that there is no
   * snapshot; about once a second, since it may have been restarted. A follower that has more than
   * was known of it is sent what comes behind that.
   */
  void tellBegin() throws InterruptedIOException {
    TermIndex begin = appender.shouldNotifyToInstallSnapshot();
    if (begin == null || (told != null && told.elapsedTimeMs() < TELL_MILLIS)) {
      return;
    }
    told = Timestamp.currentTime();
    try {
      onTold(begin, rpc.installSnapshot(appender.newInstallSnapshotNotificationRequest(begin)));
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      log.debug("{}: not told that the log begins at {}", appender, begin, e);
    }
  }

  private void onTold(TermIndex begin, InstallSnapshotReplyProto reply) {
    FollowerInfo follower = appender.getFollower();
    if (reply.getResult() == InstallSnapshotResult.ALREADY_INSTALLED) {
      // Only where to go on: whether the entry before agrees is checked as with any entry.
      follower.setNextIndex(
          Math.min(reply.getSnapshotIndex() + 1, appender.getRaftLog().getNextIndex()));
    } else if (!logged) {
      logged = true;
      log.warn(
          "{}: the follower's next entry is {}, the log begins at {}: the follower needs a copy of"
              + " the state",
          appender,
          follower.getNextIndex(),
          begin.getIndex());
    }
  }

  /** Sends the parts; returns the answer to the last one, or to the first that was not accepted. */
  private @Nullable InstallSnapshotReplyProto sendChunks(SnapshotInfo snapshot) throws IOException {
    InstallSnapshotReplyProto reply = null;
    for (InstallSnapshotRequestProto request :
        appender.newInstallSnapshotRequests(UUID.randomUUID().toString(), snapshot)) {
      appender.getFollower().updateLastRpcSendTime(false);
      reply = rpc.installSnapshot(request);
      appender.getFollower().updateLastRpcResponseTime();
      if (!reply.getServerReply().getSuccess()) {
        return reply;
      }
    }
    return reply;
  }
}
