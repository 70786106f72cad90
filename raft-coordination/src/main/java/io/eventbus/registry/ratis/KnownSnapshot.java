package io.eventbus.registry.ratis;

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
 * Answers for a bus that is sent a snapshot of what its log has already.
 *
 * <p>For a leader a bus that is admitted again is a new one, and gets its latest snapshot first,
 * also where the bus was away for a moment and its log goes beyond that. The engine would install
 * it, believe that its log ends there, and end on the next entry, which does not follow ({@code
 * SegmentedRaftLogWorker.syncWithSnapshot} of Ratis 3.3.0). Two logs that agree in the term of one
 * entry agree in all before it, so there is nothing to install.
 */
final class KnownSnapshot {
  private KnownSnapshot() {}

  /** The answer to a piece of a snapshot, null if the snapshot is for the engine. */
  static @Nullable InstallSnapshotReplyProto reply(
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
      // The engine would forget to write what is in its memory, and believe that it is there.
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
