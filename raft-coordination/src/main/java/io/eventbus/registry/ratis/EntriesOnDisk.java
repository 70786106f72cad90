package io.eventbus.registry.ratis;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.server.RaftServer;

/**
 * Tells a follower's true yes to entries from one that came too early. Any thread.
 *
 * <p>The engine takes entries that are sent a second time for kept as soon as they are in its
 * memory, while the first ones still wait for the disk, or for others to be taken off it, or could
 * not be written at all. And it looks at the term before it appends, not after, so that a vote for
 * another leader may fall in between.
 */
final class EntriesOnDisk {
  private volatile AtomicInteger waiting = new AtomicInteger();
  private final BooleanSupplier lost;

  /**
   * Knows nothing of what an engine has taken before.
   *
   * @param lost whether the log could not be written, after which the engine writes nothing more
   */
  EntriesOnDisk(BooleanSupplier lost) {
    this.lost = lost;
  }

  /** Gives entries to an engine, which answers when they are on its disk, or throws them back. */
  interface Engine {
    CompletableFuture<AppendEntriesReplyProto> append() throws IOException;
  }

  /** The engine's answer if it is true; it fails otherwise. */
  CompletableFuture<AppendEntriesReplyProto> append(
      RaftServer.Division division, AppendEntriesRequestProto append, Engine engine)
      throws IOException {
    AtomicInteger now = waiting;
    now.incrementAndGet();
    CompletableFuture<AppendEntriesReplyProto> answer = null;
    try {
      answer = engine.append();
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
   * A snapshot was installed: the log begins anew after it, and the engine has forgotten what
   * waited for the disk, without a word to those who wait for that.
   */
  void beginAnew() {
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
    if (lost.getAsBoolean()) {
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
