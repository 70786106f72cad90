package io.eventbus.server.routing;

/**
 * How the frames of one topic leave for other buses. Made for one loop by a {@link
 * RemoteForwarder}, and confined to it.
 *
 * <p>An implementation must not block and must not throw.
 */
public interface RemotePlan {
  /**
   * Says whether the publisher has to wait, because a path to another bus is full, or because
   * frames that took another path have to arrive first.
   *
   * @param retry if it has to wait, called once when it is worth trying again, by any thread
   * @return true if it has to wait
   */
  boolean mustWait(long producer, Runnable retry);

  /**
   * Says which loop owns the paths of a producer's frames: always the same, so that their order is
   * kept.
   */
  int loop(long producer);

  /** Returns to whom a frame is given. */
  RouteTarget[] targets(long producer, int roundRobin);

  /**
   * Returns how many buses the frame of the last {@link #targets} is for.
   *
   * @return a number, 0 before the first frame
   */
  int reached();

  /**
   * Estimates what the plan takes of the heap now, with its part of what it shares with those of
   * other topics.
   *
   * @return bytes
   */
  long heapBytes();

  /** Gives back what it shares: no frame leaves by it any more. Called once. */
  void close();
}
