package io.eventbus.raft.repair;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warm-up that uses once what Ratis needs for the first messages of a leader, on a thread beside
 * the one that looks for the cluster: the classes are loaded then, and not while the leader waits
 * for the first answers. Nothing is kept.
 *
 * <p>The gap: Ratis loads hundreds of classes at the first entry and the first snapshot, which
 * takes a fresh process longer than a leader waits. No upstream ticket is known.
 *
 * <p>Remove when the first answers come in time without it, for example with an archive of loaded
 * classes (AppCDS).
 */
public final class ClassWarmup implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(ClassWarmup.class);

  /** Use of the classes of the replicated state, once. */
  public interface Step {
    /** Runs on the thread of the warm-up; an exception is only logged. */
    void run() throws IOException;
  }

  private final Step state;

  /**
   * Creates a warm-up that has not begun.
   *
   * @param state is run after the messages of Ratis
   */
  public ClassWarmup(Step state) {
    this.state = state;
  }

  // A class that does not load here fails again where it is needed, and is reported there.
  @SuppressWarnings("CatchingUnchecked")
  @Override
  public void run() {
    try {
      go();
    } catch (Exception | LinkageError e) {
      log.debug("Not everything could be used beforehand", e);
    }
  }

  /** Runs the steps in the order in which their classes will be needed. */
  void go() throws IOException {
    long startNanos = System.nanoTime();
    // Ratis registers itself there.
    ManagementFactory.getPlatformMBeanServer();
    append();
    snapshot();
    state.run();
    log.debug("Used beforehand in {} ms", (System.nanoTime() - startNanos) / 1_000_000);
  }

  /** Plays an entry of the log on its way from the leader. */
  private static void append() throws IOException {
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder().setLogData(ByteString.EMPTY))
            .build();
    AppendEntriesRequestProto.parseFrom(
        AppendEntriesRequestProto.newBuilder().addEntries(entry).build().toByteArray());
    AppendEntriesReplyProto.parseFrom(AppendEntriesReplyProto.getDefaultInstance().toByteArray());
  }

  /** Plays a snapshot on its way from the leader, and the members that come with it. */
  private static void snapshot() throws IOException {
    LogEntryProto members =
        LogEntryProto.newBuilder()
            .setConfigurationEntry(
                RaftConfigurationProto.newBuilder()
                    .addPeers(RaftPeerProto.newBuilder().setAddress("")))
            .build();
    InstallSnapshotRequestProto.parseFrom(
        InstallSnapshotRequestProto.newBuilder()
            .setSnapshotChunk(
                SnapshotChunkProto.newBuilder()
                    .addFileChunks(FileChunkProto.newBuilder().setData(ByteString.EMPTY)))
            .setLastRaftConfigurationLogEntryProto(members)
            .build()
            .toByteArray());
    InstallSnapshotReplyProto.parseFrom(
        InstallSnapshotReplyProto.getDefaultInstance().toByteArray());
    // Ratis makes this text whether it is logged or not.
    ProtoUtils.shortDebugString(members);
  }
}
