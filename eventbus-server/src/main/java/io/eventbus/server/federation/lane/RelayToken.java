package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.ReceivedFrames;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Token of a frame that arrived on a lane and was passed on: the frame is acknowledged when all
 * recipients have acknowledged it. The lanes that it leaves by belong to another loop than the one
 * that it arrived on, if the buses have different numbers of loops. Any thread.
 */
public final class RelayToken implements FrameToken, ReceivedFrames.Held {
  private final long sequence;

  /** Process that has sent it: another one restarts the count. */
  final long instance;

  private final @Nullable IncomingLane lane;
  private final AtomicInteger left;

  public RelayToken(@Nullable IncomingLane lane, long sequence, int children) {
    this.lane = lane;
    this.instance = lane == null ? 0 : lane.instance();
    this.sequence = sequence;
    this.left = new AtomicInteger(children);
  }

  @Override
  public long number() {
    return sequence;
  }

  @Override
  public boolean isDone() {
    return left.get() == 0;
  }

  @Override
  public void add(int children) {
    left.addAndGet(children);
  }

  @Override
  public void done(LaneLoop on) {
    IncomingLane to = lane;
    if (left.decrementAndGet() > 0 || to == null) {
      return;
    }
    if (to.loop() == on) {
      to.relayed(this);
    } else {
      to.loop().execute(() -> to.relayed(this));
    }
  }
}
