package io.eventbus.registry.ratis;

import io.eventbus.registry.RegistryStatus;
import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;

/** What can be told of the engine's log, here and on the other members. Any thread. */
final class EngineLog {
  private EngineLog() {}

  static RegistryStatus.Log of(RaftServer.Division division) {
    RaftLog log = division.getRaftLog();
    TermIndex last = log.getLastEntryTermIndex();
    long start = log.getStartIndex();
    SnapshotInfo snapshot = division.getStateMachine().getLatestSnapshot();
    return new RegistryStatus.Log(
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

  /** Up to where each member is known to know that a majority has it. */
  static Map<String, Long> committed(RaftServer.Division division) {
    Map<String, Long> committed = new TreeMap<>();
    for (CommitInfoProto info : division.getCommitInfos()) {
      committed.put(RaftPeerId.valueOf(info.getServer().getId()).toString(), info.getCommitIndex());
    }
    return committed;
  }
}
