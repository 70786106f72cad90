package io.eventbus.server.session;

import java.nio.ByteBuffer;

/** What is done with one type of frame. Called on the loop of the session. */
interface FrameHandler {
  /**
   * Handles a frame.
   *
   * @param in holds the frame's body from one index to before another
   * @param retry called once, by any thread, if the frame has to wait
   * @return false if it has to wait; then nothing was done
   * @throws io.eventbus.protocol.MalformedFrameException if the bytes are no such frame
   */
  boolean handle(Session session, ByteBuffer in, int from, int to, Runnable retry);
}
