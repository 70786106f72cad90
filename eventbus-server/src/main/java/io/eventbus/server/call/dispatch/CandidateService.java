package io.eventbus.server.call.dispatch;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Service with its local members as dispatch sees it. Any thread. */
public interface CandidateService {
  /** Returns the local members, ordered by number; not to be changed. */
  CandidateMember[] members();

  /** Returns the local member with a number, if it takes calls; else null. */
  @Nullable CandidateMember member(long number);

  /** Returns an upper bound of the windows of local members. */
  int maxWindow();

  /** Returns the number of calls that wait for a place, on all loops. */
  AtomicInteger queued();

  /** Returns the loops with calls for any member. */
  WaitingLoops waiting();

  /** Returns the loops with calls of peers, which only local members may have. */
  WaitingLoops localWaiting();

  /**
   * Returns the start of the time in which members have places, as far as known; any time if none
   * has.
   *
   * @param local whether only members of this bus count
   */
  long openNanos(boolean local);

  /**
   * Returns whether a member takes calls.
   *
   * @param local whether only members of this bus count
   */
  boolean isServed(boolean local);
}
