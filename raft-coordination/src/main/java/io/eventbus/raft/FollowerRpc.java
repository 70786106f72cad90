package io.eventbus.raft;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;

/** Requests of a leader to its followers. */
interface FollowerRpc {
  /**
   * Sends entries, or none as a heartbeat. The future completes by a deadline, as a rule on the
   * thread that moves the bytes of links; what depends on it must not block.
   */
  CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request);

  /** Sends entries for a caller that may wait. */
  AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) throws IOException;

  /** Sends a part of a snapshot, and waits. */
  InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) throws IOException;

  /**
   * Runs a task that must not block, a little later, on the thread that moves the bytes of links.
   *
   * @throws java.util.concurrent.RejectedExecutionException if this bus ends
   */
  void after(Duration delay, Runnable task);
}
