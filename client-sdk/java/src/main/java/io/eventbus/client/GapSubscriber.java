package io.eventbus.client;

import java.util.concurrent.Flow;

/**
 * A subscriber of {@link EventSubscriber#publisher} that wants to know where events are missing.
 * Called as any {@link Flow.Subscriber} is, one call at a time.
 */
public interface GapSubscriber extends Flow.Subscriber<ReceivedEvent> {
  /**
   * Events are missing: those that are given to {@code onNext} from now on were published after
   * them. It takes nothing of what was requested.
   *
   * @param gap which events
   */
  void onGap(Gap gap);

  /**
   * Takes notice that events may be missing, as {@link EventHandler#onInterruption} does. It takes
   * nothing of what was requested. Does nothing by default.
   *
   * @param interruption from when to when
   */
  default void onInterruption(Interruption interruption) {}
}
