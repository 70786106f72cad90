package io.eventbus.server.federation.lane;

import java.nio.ByteBuffer;

/** Takes the events that come by lanes from other buses. One for each loop; confined to it. */
public interface ForwardHandler {
  /**
   * Takes the body of a {@code Forward}.
   *
   * @param hold what is remembered of the connection while it has to wait
   * @return false if it has to wait until {@code retry} is called; then nothing was done
   */
  boolean take(
      IncomingLane lane, ByteBuffer in, int from, int to, ForwardHold hold, Runnable retry);

  /** A connection is held until now: called several times a second while it is. */
  void onTick(ForwardHold hold, long nowNanos);

  /** The frame for which a connection was held comes again, or never will. */
  void release(ForwardHold hold);
}
