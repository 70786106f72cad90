package io.eventbus.raft.repair;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.server.RaftServer;

/**
 * Guard that ends the thread with which a listener watches its leader, before the listener becomes
 * a voter.
 *
 * <p>The fault: a listener that reads in the log that it is a voter waits for the end of that
 * thread with the division's lock held; and the thread takes the lock whenever it wakes, several
 * times in a second ({@code ServerState.updateConfiguration} and {@code FollowerState.runImpl}).
 * Then the two threads deadlock, and the bus does not answer any more. A listener never stands for
 * election, so that the thread has nothing to do; a voter gets a new one. Of the same kind, for
 * another caller: RATIS-2162.
 *
 * <p>The thread is found by its name. Remove when Ratis does not wait for it under the lock: {@code
 * RatisFaultsTest.aListenerThatBecomesAVoterDeadlocks} fails then; it also fails when the thread
 * has another name.
 */
public final class ListenerPromotionGuard {
  private static final long DEADLINE_MILLIS = 2_000;

  private ListenerPromotionGuard() {}

  /** Ends the thread before entries are handed to Ratis. */
  public static void endBefore(RaftServer.Division division, AppendEntriesRequestProto request)
      throws IOException {
    if (RoutineAppend.changesMembers(request)) {
      end(division);
    }
  }

  /** Ends the thread before members come in another way, such as with a snapshot. */
  public static void end(RaftServer.Division division) throws IOException {
    if (!division.getInfo().isListener()) {
      return;
    }
    String name = threadName(division);
    for (Thread thread : threads()) {
      if (thread.getName().equals(name)) {
        end(thread);
      }
    }
  }

  static String threadName(RaftServer.Division division) {
    return division.getMemberId() + "-FollowerState";
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

  static List<Thread> threads() {
    ThreadGroup root = Objects.requireNonNull(Thread.currentThread().getThreadGroup());
    for (ThreadGroup above = root.getParent(); above != null; above = above.getParent()) {
      root = above;
    }
    // Threads may have been added meanwhile; enumerate drops those that do not fit.
    Thread[] found = new Thread[2 * root.activeCount() + 16];
    return Arrays.asList(found).subList(0, root.enumerate(found, true));
  }
}
