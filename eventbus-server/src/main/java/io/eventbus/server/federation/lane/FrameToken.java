package io.eventbus.server.federation.lane;

/** Follows a frame that lanes hold until it has arrived, or is lost. */
interface FrameToken {
  /** More buses have to acknowledge it, because the one that was to pass it on cannot. */
  void add(int children);

  /** One of them has acknowledged it, or was given up. */
  void done(LaneLoop on);
}
