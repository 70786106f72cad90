package io.eventbus.raft.repair;

import java.io.IOException;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * Reply to a leader that sends a snapshot of what the follower's log has already.
 *
 * <p>The fault: for a leader, a member that is admitted again is a new one, and gets the latest
 * snapshot first, even if its log goes beyond that. Ratis would install it, take the snapshot's end
 * for the log's ({@code SegmentedRaftLogWorker.syncWithSnapshot}), and shut down at the next entry,
 * which does not follow. Two logs that agree in the term of one entry agree in all before it, so
 * there is nothing to install. No upstream ticket is known.
 *
 * <p>Remove when a log survives a snapshot that ends before it: {@code
 * RatisFaultsTest.aSnapshotThatEndsBeforeTheLogBreaksTheLog} fails then.
 */
public final class RedundantSnapshotReply {
  private RedundantSnapshotReply() {}

  /** Returns the answer to a piece of a snapshot; null if Ratis is to install it. */
  public static @Nullable InstallSnapshotReplyProto reply(
      RaftServer.Division division, InstallSnapshotRequestProto request) throws IOException {
    if (!request.hasSnapshotChunk()) {
      return null;
    }
    RaftRpcRequestProto head = request.getServerRequest();
    RaftLog log = division.getRaftLog();
    TermIndex last = TermIndex.valueOf(request.getSnapshotChunk().getTermIndex());
    if (!last.equals(log.getTermIndex(last.getIndex()))) {
      return null;
    }
    if (log.getFlushIndex() < last.getIndex()) {
      // Ratis would skip writing what is in its memory only, and take it for written.
      throw new IOException("entry " + last + " waits for the disk");
    }
    return InstallSnapshotReplyProto.newBuilder()
        .setServerReply(
            RaftRpcReplyProto.newBuilder()
                .setRequestorId(head.getRequestorId())
                .setReplyId(head.getReplyId())
                .setRaftGroupId(head.getRaftGroupId())
                .setCallId(head.getCallId())
                .setSuccess(true))
        .setTerm(division.getInfo().getCurrentTerm())
        .setResult(InstallSnapshotResult.ALREADY_INSTALLED)
        .setRequestIndex(request.getSnapshotChunk().getRequestIndex())
        .build();
  }
}
