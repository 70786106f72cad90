package io.eventbus.server.call.dispatch;

/** Service as dispatch sees it on one loop. Confined to the loop. */
public interface QueuedService {
  /** Returns the service with its local members. */
  CandidateService service();

  /** Returns the queue of calls for any member. */
  ServiceQueue queue();

  /** Returns the queue of calls that only local members may have. */
  ServiceQueue localQueue();

  /** Returns the peers that serve by streams of this loop; not to be changed. */
  CandidateMember[] peers();

  /** Announces to peers how many calls wait, unless it has done so lately. */
  void announceDemand(long nowNanos);

  /** Forgets the service if it has no members and no waiting calls. */
  void forgetIfIdle();
}
