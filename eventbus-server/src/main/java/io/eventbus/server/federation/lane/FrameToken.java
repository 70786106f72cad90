package io.eventbus.server.federation.lane;

/** Tracker of a frame that lanes keep until it has arrived, or is lost. */
interface FrameToken {
  /** Adds acknowledgements to wait for, because a relay cannot pass the frame on. */
  void add(int children);

  /** Counts an acknowledgement, or a peer that was given up. */
  void done(LaneLoop on);
}
