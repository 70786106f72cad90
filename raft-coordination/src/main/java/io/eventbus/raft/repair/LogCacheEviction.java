package io.eventbus.raft.repair;

import java.io.IOException;
import java.time.Duration;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * End of the thread that evicts entries from the cache of a log, before the log is closed.
 *
 * <p>The fault: {@code SegmentedRaftLog.close} takes the lock of the log and then waits for that
 * thread, which may be about to take the same lock, since a segment was begun a moment ago. Both
 * wait for ever, and the files stay locked. Seen where an entry cannot be applied after a start: a
 * leader begins a segment, and Ratis closes the log at once. No upstream ticket is known.
 *
 * <p>Remove when the log waits for the thread without its lock.
 */
public final class LogCacheEviction {
  private static final Logger log = LoggerFactory.getLogger(LogCacheEviction.class);

  /** Name of the thread, behind that of the member. */
  private static final String THREAD = "-cacheEviction-AwaitToRun";

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private LogCacheEviction() {}

  /** Ends the threads of all groups of a server, and closes it. */
  public static void endAndClose(RaftServer server) throws IOException {
    try {
      for (RaftGroupId group : server.getGroupIds()) {
        end(RaftGroupMemberId.valueOf(server.getId(), group));
      }
    } finally {
      server.close();
    }
  }

  /** Ends the thread of a member, of which the caller must not hold the lock of the log. */
  public static void end(RaftGroupMemberId member) {
    String name = member + THREAD;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals(name)) {
        thread.interrupt();
        try {
          thread.join(TIMEOUT.toMillis());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
        if (thread.isAlive()) {
          log.warn("{}: still runs after {}", name, TIMEOUT);
        }
      }
    }
  }
}
