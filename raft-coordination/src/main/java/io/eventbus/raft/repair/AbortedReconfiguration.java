package io.eventbus.raft.repair;

import io.eventbus.base.StageFailures;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the leadership of a leader that sends to a bus that is no member. Called several times a
 * second on one thread, and does not wait.
 *
 * <p>The fault: a leader that is elected while a change of the members is under way sends to the
 * members before and after it, ends the change with its first entry, and goes on sending to all of
 * them. To admit the bus that was taken out it would have to send to it twice, which Ratis refuses
 * ({@code SenderList.addAll}). The next leader begins with the members alone. No upstream ticket is
 * known.
 *
 * <p>Remove when such a leader stops sending to former members; {@code
 * RatisFaultsTest.aNewLeaderGoesOnServingTheMemberThatAChangeTookOut} fails then.
 */
public final class AbortedReconfiguration {
  private static final Logger log = LoggerFactory.getLogger(AbortedReconfiguration.class);

  private static final long STEP_DOWN_MILLIS = 3_000;

  /** Group at its leader. */
  public interface Group {
    /** Returns whether the leader here sends to a bus that is no member. */
    boolean servesStrangers();

    /**
     * Ends this bus's leadership; the voters choose the next leader, which may be this bus again.
     */
    CompletableFuture<Void> stepDown(long timeoutMillis);
  }

  private final Group group;
  private @Nullable CompletableFuture<?> steppingDown;

  /**
   * Number of times in a row that there were strangers; they are seen once while a change ends,
   * too.
   */
  private int seen;

  /** Creates the repair of one group. */
  public AbortedReconfiguration(Group group) {
    this.group = group;
  }

  /** Resets the count, because this bus does not lead. */
  public void reset() {
    seen = 0;
  }

  /** Looks once, at the leader; returns true if the leadership ends because of it. */
  public boolean endsLeadership() {
    CompletableFuture<?> before = steppingDown;
    if (before != null && !before.isDone()) {
      return true;
    }
    seen = group.servesStrangers() ? seen + 1 : 0;
    if (seen < 2) {
      return false;
    }
    seen = 0;
    log.info("Stepping down: a change of the members was cut short, and its bus is still served");
    steppingDown =
        group
            .stepDown(STEP_DOWN_MILLIS)
            .exceptionally(
                error -> {
                  log.info("Still leading: {}", StageFailures.unwrap(error).toString());
                  return null;
                });
    return true;
  }
}
