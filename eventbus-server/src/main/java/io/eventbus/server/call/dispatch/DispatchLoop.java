package io.eventbus.server.call.dispatch;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Event loop as dispatch needs it. Confined to the loop. */
public interface DispatchLoop {
  /** Returns the number of the loop. */
  int number();

  /** Returns the time in nanoseconds. */
  long now();

  /** Returns the loop's view of a service, or null. */
  @Nullable QueuedService known(CandidateService service);

  /** Hands a place of a member, acquired for it, to another loop. */
  void grant(int loop, CandidateMember member);

  /**
   * Runs work in steps, now or in later turns of the loop.
   *
   * @param step does a piece that takes microseconds at a time in nanoseconds, and returns whether
   *     there is more
   */
  void inSlices(LongPredicate step);
}
