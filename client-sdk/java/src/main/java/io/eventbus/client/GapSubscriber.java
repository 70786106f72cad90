package io.eventbus.client;

import java.util.concurrent.Flow;

/**
 * Subscriber of {@link EventSubscriber#publisher} that is told of missing events. Called as any
 * {@link Flow.Subscriber} is, one call at a time.
 */
public interface GapSubscriber extends Flow.Subscriber<ReceivedEvent> {
  /**
   * Called when events are missing: those that are given to {@code onNext} from now on were
   * published after them. The call uses up no demand.
   *
   * @param gap the missing events
   */
  void onGap(Gap gap);

  /**
   * Called when events may be missing, as {@link EventHandler#onInterruption} is. The call uses up
   * no demand. Does nothing by default.
   *
   * @param interruption its start and end
   */
  default void onInterruption(Interruption interruption) {}
}
