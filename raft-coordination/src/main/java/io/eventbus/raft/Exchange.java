package io.eventbus.raft;

import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.server.raftlog.RaftLog;

/** Message to a follower, with its answer. */
record Exchange(AppendEntriesRequestProto request, AppendEntriesReplyProto reply) {
  boolean isSuccess() {
    return reply.getResult() == AppendResult.SUCCESS;
  }

  /** Returns the index of the first entry; Ratis's sign for none if there is no entry. */
  long firstIndex() {
    return isHeartbeat() ? RaftLog.INVALID_LOG_INDEX : request.getEntries(0).getIndex();
  }

  /**
   * Returns the next entry that the follower needs, after a success.
   *
   * @param before the next entry as far as was known before
   */
  long nextIndex(long before) {
    return isHeartbeat() ? Math.max(before, previousIndex() + 1) : reply.getNextIndex();
  }

  private boolean isHeartbeat() {
    return request.getEntriesCount() == 0;
  }

  private long previousIndex() {
    return request.hasPreviousLog()
        ? request.getPreviousLog().getIndex()
        : RaftLog.INVALID_LOG_INDEX;
  }
}
