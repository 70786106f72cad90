package io.eventbus.server.federation.lane;

import java.nio.ByteBuffer;

/** Handler of events that arrive by lanes from peers. One for each loop; confined to it. */
public interface ForwardHandler {
  /**
   * Handles the body of a {@code Forward}. Returns false if it has to wait until {@code retry} is
   * called; then nothing was done.
   *
   * @param hold state of the connection while it has to wait
   */
  boolean take(
      IncomingLane lane, ByteBuffer in, int from, int to, ForwardHold hold, Runnable retry);

  /** Called several times a second while a connection is held. */
  void onTick(ForwardHold hold, long nowNanos);

  /** Called when the frame for which a connection was held comes again, or never will. */
  void release(ForwardHold hold);
}
