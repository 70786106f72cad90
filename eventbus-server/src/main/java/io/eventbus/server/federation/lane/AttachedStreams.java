package io.eventbus.server.federation.lane;

import io.netty.channel.ChannelFuture;
import java.util.List;

/**
 * Streams of another kind that one loop has beside its lanes: their deadlines are looked at and
 * their signs of life are given together with those of the lanes. Called on the loop.
 */
public interface AttachedStreams {
  /** Looks at all deadlines: every 50 ms while any {@link #areNear}, else about every second. */
  void onTick(long nowNanos);

  /** Whether a deadline other than that of a sign of life may come within the next second. */
  boolean areNear();

  /** This bus's ends of their connections, now. */
  List<? extends StreamEndpoint> ends();

  /** This bus ends: says so by all connections; each is closed by the other bus. */
  List<ChannelFuture> end();
}
