package io.eventbus.server.routing;

import io.eventbus.server.delivery.RouteTarget;

/**
 * Paths of the frames of one topic to peers. Created for one loop by a {@link RemoteForwarder}, and
 * confined to it.
 *
 * <p>An implementation must not block and must not throw.
 */
public interface RemotePlan {
  /**
   * Returns whether the publisher has to wait, because a path to a peer is full, or because frames
   * that took another path have to arrive first.
   *
   * @param retry if it has to wait, called once when it is worth trying again, by any thread
   */
  boolean mustWait(long producer, Runnable retry);

  /**
   * Returns the loop that owns the paths of a producer's frames: always the same, so that their
   * order is kept.
   */
  int loop(long producer);

  /** Returns to whom a frame is given. */
  RouteTarget[] targets(long producer, int roundRobin);

  /**
   * Returns how many buses the frame of the last {@link #targets} is for; 0 before the first frame.
   */
  int reached();

  /** Estimates the plan's heap in bytes, with its part of what it shares with other topics. */
  long heapBytes();

  /** Releases what it shares: no frame leaves by it any more. Called once. */
  void close();
}
