package io.eventbus.server.session;

import java.nio.ByteBuffer;

/** Handler of one type of frame. Called on the loop of the session. */
interface FrameHandler {
  /**
   * Handles a frame.
   *
   * @param in contains the frame's body at the indexes {@code from} to before {@code to}
   * @param retry called once, by any thread, if the frame has to wait
   * @return false if it has to wait; then nothing was done
   * @throws io.eventbus.protocol.MalformedFrameException if the bytes are no valid frame of the
   *     type
   */
  boolean handle(Session session, ByteBuffer in, int from, int to, Runnable retry);
}
