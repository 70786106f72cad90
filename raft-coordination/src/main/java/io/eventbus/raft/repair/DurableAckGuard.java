package io.eventbus.raft.repair;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.server.RaftServer;

/**
 * Guard that acknowledges appended entries only once they are fsynced. Each Raft group has one. Any
 * thread.
 *
 * <p>The fault: a follower acknowledges entries that it is sent a second time as soon as they are
 * in its memory, while the first ones still wait for the disk, or for other entries to be taken off
 * it, or could not be written at all ({@code SegmentedRaftLog.appendImpl} has no future for entries
 * that it finds in its log). It also compares the terms before it appends and not after, so that a
 * vote for another leader may fall in between. The repeated append does wait for the first one with
 * {@code log.append-entries.compose.enabled}, which is off here because it costs throughput. No
 * upstream ticket is known.
 *
 * <p>Remove when a repeated append is acknowledged no earlier than the first one, with the term of
 * that moment: {@code RatisFaultsTest.aRepeatedAppendIsAcknowledgedBeforeItIsOnTheDisk} fails then.
 */
public final class DurableAckGuard {
  private volatile AtomicInteger waiting = new AtomicInteger();
  private final BooleanSupplier logFailed;

  /**
   * Creates a guard for a group that has not received anything yet.
   *
   * @param logFailed whether the log could not be written, after which Ratis writes nothing more
   */
  public DurableAckGuard(BooleanSupplier logFailed) {
    this.logFailed = logFailed;
  }

  /** Call that gives entries to Ratis, which answers when they are on its disk, or throws. */
  public interface Append {
    /** Returns Ratis's own answer, which may come too early. */
    CompletableFuture<AppendEntriesReplyProto> append() throws IOException;
  }

  /** Call that gives a piece of a snapshot to Ratis. */
  public interface Install {
    /** Returns Ratis's own answer. */
    InstallSnapshotReplyProto install() throws IOException;
  }

  /** Appends entries; the future has Ratis's answer if it is true, and fails otherwise. */
  public CompletableFuture<AppendEntriesReplyProto> append(
      RaftServer.Division division, AppendEntriesRequestProto append, Append ratis)
      throws IOException {
    AtomicInteger now = waiting;
    now.incrementAndGet();
    CompletableFuture<AppendEntriesReplyProto> answer = null;
    try {
      answer = ratis.append();
    } finally {
      if (answer == null) {
        now.decrementAndGet();
      }
    }
    return answer
        .whenComplete((reply, error) -> now.decrementAndGet())
        .thenCompose(reply -> isTrue(division, append, reply));
  }

  /**
   * Installs a piece of a snapshot. When the snapshot is complete the log begins anew after it, and
   * Ratis drops the entries that waited for the disk without completing their futures.
   */
  public InstallSnapshotReplyProto install(
      RaftServer.Division division, InstallSnapshotRequestProto snapshot, Install ratis)
      throws IOException {
    long index = snapshot.getSnapshotChunk().getTermIndex().getIndex();
    long before = division.getRaftLog().getSnapshotIndex();
    try {
      return ratis.install();
    } finally {
      // Also if something failed afterwards.
      if (before < index && division.getRaftLog().getSnapshotIndex() >= index) {
        beginAnew();
      }
    }
  }

  /** Forgets what waits, because a snapshot has replaced the log. */
  public void beginAnew() {
    waiting = new AtomicInteger();
  }

  private CompletionStage<AppendEntriesReplyProto> isTrue(
      RaftServer.Division division,
      AppendEntriesRequestProto append,
      AppendEntriesReplyProto reply) {
    if (reply.getResult() != AppendResult.SUCCESS) {
      return CompletableFuture.completedFuture(reply);
    }
    long last = append.getEntries(append.getEntriesCount() - 1).getIndex();
    if (logFailed.getAsBoolean()) {
      return no("entries: up to " + last + ", the log could not be written");
    }
    if (waiting.get() > 0) {
      return no("entries: up to " + last + ", others wait for the disk");
    }
    long onDisk = division.getRaftLog().getFlushIndex();
    if (onDisk < last) {
      return no("entries: up to " + last + ", on the disk: up to " + onDisk);
    }
    long term = division.getInfo().getCurrentTerm();
    if (term != append.getLeaderTerm()) {
      return no("term: " + append.getLeaderTerm() + " (now: " + term + ")");
    }
    return CompletableFuture.completedFuture(reply);
  }

  private static CompletionStage<AppendEntriesReplyProto> no(String why) {
    return CompletableFuture.failedFuture(new IOException(why));
  }
}
