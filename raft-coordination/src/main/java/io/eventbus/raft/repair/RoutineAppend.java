package io.eventbus.raft.repair;

import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/**
 * Append of entries of a known leader to Ratis on the thread that has read them. Any thread.
 *
 * <p>The gap: Ratis only queues such entries for its disk, which does not block, but a message may
 * also bring a new term, which it writes to the disk at once, or other members; and it has no
 * method that says beforehand which of these it will be. So the look at the role and the term, and
 * the append, are made under the division's own monitor, which every change of the role takes
 * ({@code synchronized} in {@code RaftServerImpl}). If Ratis used another lock, a new term might be
 * written on the thread that moves bytes: heartbeats would be late, nothing would be lost. No
 * upstream ticket is known.
 *
 * <p>Remove when Ratis offers an append that never blocks, or to save one change of threads for
 * each message is no longer worth it. {@code RatisFaultsTest.anAppendTakesTheDivisionsMonitor}
 * fails when Ratis uses another lock.
 */
public final class RoutineAppend {
  private RoutineAppend() {}

  /**
   * Hands the message over if Ratis will not block.
   *
   * @return the answer; null if the message is to be handed over on a thread that may block
   */
  public static <T> @Nullable T tryAppend(
      RaftServer.Division division, AppendEntriesRequestProto message, Supplier<T> append) {
    if (message.getInitializing() || changesMembers(message)) {
      return null;
    }
    synchronized (division) {
      return isFollowing(division.getInfo(), message.getLeaderTerm()) ? append.get() : null;
    }
  }

  static boolean changesMembers(AppendEntriesRequestProto message) {
    return message.getEntriesList().stream().anyMatch(LogEntryProto::hasConfigurationEntry);
  }

  /** Returns whether a server follows the leader of a term. */
  public static boolean isFollowing(DivisionInfo info, long leaderTerm) {
    return (info.isFollower() || info.isListener()) && info.getCurrentTerm() == leaderTerm;
  }
}
