package io.eventbus.registry.ratis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServer;

/**
 * Ends the thread with which a listener's engine watches its leader, before the listener becomes a
 * voter.
 *
 * <p>A listener that reads in the log that it is a voter waits for the end of that thread with its
 * lock held; and the thread wants the lock each time when it wakes, several times in a second
 * ({@code ServerState.updateConfiguration} and {@code FollowerState.runImpl} of Ratis 3.3.0). Who
 * meets the other there waits for ever, and the bus answers nobody any more. A listener never
 * stands for election, so that the thread has nothing to do; a voter gets a new one.
 */
final class ListenerWatch {
  private static final long DEADLINE_MILLIS = 2_000;

  private ListenerWatch() {}

  /** Before entries are handed to the engine. */
  static void endBefore(RaftServer.Division division, AppendEntriesRequestProto request)
      throws IOException {
    if (request.getEntriesList().stream().anyMatch(LogEntryProto::hasConfigurationEntry)) {
      end(division);
    }
  }

  /** At once: for what brings the members in another way, such as a snapshot. */
  static void end(RaftServer.Division division) throws IOException {
    if (!division.getInfo().isListener()) {
      return;
    }
    String name = division.getMemberId() + "-FollowerState";
    for (Thread thread : threads()) {
      if (thread.getName().equals(name)) {
        end(thread);
      }
    }
  }

  private static void end(Thread thread) throws IOException {
    thread.interrupt();
    try {
      thread.join(DEADLINE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while a listener becomes a voter");
    }
    if (thread.isAlive()) {
      // The leader sends it again.
      throw new IOException(
          thread.getName()
              + " is "
              + thread.getState()
              + " after "
              + TimeUnit.MILLISECONDS.toSeconds(DEADLINE_MILLIS)
              + " s (expected: ended)");
    }
  }

  private static List<Thread> threads() {
    ThreadGroup root = Objects.requireNonNull(Thread.currentThread().getThreadGroup());
    for (ThreadGroup above = root.getParent(); above != null; above = above.getParent()) {
      root = above;
    }
    // It may have grown meanwhile; what does not fit is left out without a word.
    Thread[] found = new Thread[2 * root.activeCount() + 16];
    return Arrays.asList(found).subList(0, root.enumerate(found, true));
  }
}
