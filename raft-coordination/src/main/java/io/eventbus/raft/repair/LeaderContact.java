package io.eventbus.raft.repair;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Time of the last message of a leader to this bus. Any thread.
 *
 * <p>The fault: a server that starts while its log does not name it among the members watches no
 * leader before the first message that is not {@code initializing}; to a listener none is until the
 * leader changes. Until then Ratis gives 0 for the time since the leader was heard from ({@code
 * RoleInfo.buildRoleInfoProto} without a {@code FollowerState}). If the leader takes it out of the
 * members meanwhile, it takes its state for current for ever, and does not ask to be admitted. No
 * upstream ticket is known.
 *
 * <p>Remove when Ratis gives the time in every role: {@code
 * RatisFaultsTest.aServerThatStartedAsNoMemberKnowsNoSilence} fails then.
 */
public final class LeaderContact {
  private final LongSupplier nanoTime;
  private volatile long heardNanos;

  /**
   * Creates a contact that begins now.
   *
   * @param nanoTime as {@link System#nanoTime}
   */
  public LeaderContact(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.heardNanos = nanoTime.getAsLong();
  }

  /** Returns the time that {@link #heard} takes. */
  public long now() {
    return nanoTime.getAsLong();
  }

  /** Records a message that came at a time, once it was accepted as that of the leader. */
  public void heard(long nanos) {
    // Two threads at once may leave the earlier time: it differs by the time between them.
    if (nanos - heardNanos > 0) {
      heardNanos = nanos;
    }
  }

  /** Returns the time since the last message, in milliseconds. */
  public long silenceMillis() {
    return TimeUnit.NANOSECONDS.toMillis(Math.max(0, nanoTime.getAsLong() - heardNanos));
  }
}
