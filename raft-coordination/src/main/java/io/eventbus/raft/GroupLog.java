package io.eventbus.raft;

import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;

/**
 * State of a group's log at this member.
 *
 * @param snapshot the index of the last entry in the newest snapshot; -1 for none
 * @param bytes the size of its files
 */
public record GroupLog(long committed, long applied, long snapshot, long entries, long bytes) {
  static GroupLog of(RaftServer.Division division) {
    RaftLog log = division.getRaftLog();
    TermIndex last = log.getLastEntryTermIndex();
    long start = log.getStartIndex();
    SnapshotInfo snapshot = division.getStateMachine().getLatestSnapshot();
    return new GroupLog(
        log.getLastCommittedIndex(),
        division.getInfo().getLastAppliedIndex(),
        snapshot == null ? -1 : snapshot.getIndex(),
        last == null || start < 0 ? 0 : Math.max(0, last.getIndex() - start + 1),
        bytes(division.getRaftStorage().getStorageDir().getCurrentDir()));
  }

  private static long bytes(File directory) {
    File[] files = directory.listFiles((dir, name) -> name.startsWith("log_"));
    long bytes = 0;
    if (files != null) {
      for (File file : files) {
        bytes += file.length();
      }
    }
    return bytes;
  }

  /** Returns the index up to which each member is known to know that the log is committed. */
  static Map<String, Long> committed(RaftServer.Division division) {
    Map<String, Long> committed = new TreeMap<>();
    for (CommitInfoProto info : division.getCommitInfos()) {
      committed.put(RaftPeerId.valueOf(info.getServer().getId()).toString(), info.getCommitIndex());
    }
    return committed;
  }
}
