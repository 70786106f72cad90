package io.eventbus.server.call.dispatch;

/** Member of a service, or a peer that serves it, as dispatch sees it. Any thread. */
public interface CandidateMember {
  /** Returns the window, whose places any thread may acquire. */
  MemberWindow window();

  /** Returns the loops with calls for this member only. */
  WaitingLoops waiting();

  /** Returns the service. */
  CandidateService service();

  /** Returns whether it is a peer. */
  boolean isPeer();

  /** Returns whether it has left. */
  boolean isGone();

  /** Returns whether it takes calls, perhaps later. */
  boolean serves();

  /** Records that a loop has calls for this member only, and must be notified of its end. */
  void pinned();

  /** Returns the cost of a further call in nanoseconds; for the choice among members or peers. */
  double cost(int fromLoop, long nowNanos);

  /**
   * Returns the expected time of a further call in nanoseconds; for the choice between this bus and
   * peers.
   *
   * @param unknown expected time at a peer that has not answered yet
   */
  double expected(int fromLoop, double unknown, long nowNanos);
}
