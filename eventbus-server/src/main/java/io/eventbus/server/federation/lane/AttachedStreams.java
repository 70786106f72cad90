package io.eventbus.server.federation.lane;

import io.netty.channel.ChannelFuture;
import java.util.List;

/**
 * Streams of another kind that one loop has beside its lanes: their deadlines and keepalives are
 * processed together with those of the lanes. Called on the loop.
 */
public interface AttachedStreams {
  /** Checks all deadlines: every 50 ms while any {@link #areDueSoon}, else about every second. */
  void onTick(long nowNanos);

  /** Returns whether a deadline other than a keepalive may come within the next second. */
  boolean areDueSoon();

  /** Returns the current connections of these streams. */
  List<? extends StreamEndpoint> ends();

  /** Says goodbye on all connections because this bus ends; each is closed by the peer. */
  List<ChannelFuture> end();
}
