package io.eventbus.client.internal.outbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Completions;
import io.eventbus.client.internal.base.Notifier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Stages of the events of frames, in their order. */
public final class FrameStages implements Completions.Stages {
  private final List<PublishFrame> frames;
  private final long producer;
  private final @Nullable EventBusException failure;
  private int frame;
  private int waiter;

  private FrameStages(
      List<PublishFrame> frames, long producer, @Nullable EventBusException failure) {
    this.frames = frames;
    this.producer = producer;
    this.failure = failure;
  }

  /** Completes the stages of frames that the bus has confirmed. */
  public static void confirm(Notifier notifier, List<PublishFrame> frames, long producer) {
    if (!frames.isEmpty()) {
      notifier.completeAll(new FrameStages(frames, producer, null));
    }
  }

  /** Fails the stages of frames. */
  public static void fail(Notifier notifier, List<PublishFrame> frames, EventBusException failure) {
    if (!frames.isEmpty()) {
      notifier.failAll(new FrameStages(frames, 0, failure));
    }
  }

  @Override
  public boolean completeNext() {
    PublishFrame of;
    PublishFrame.Waiter next;
    synchronized (this) {
      while (frame < frames.size() && waiter == frames.get(frame).waiters.size()) {
        frame++;
        waiter = 0;
      }
      if (frame == frames.size()) {
        return false;
      }
      of = frames.get(frame);
      next = of.waiters.get(waiter++);
    }
    if (failure == null) {
      of.confirm(next, producer);
    } else {
      next.stage().completeExceptionally(failure);
    }
    return true;
  }
}
