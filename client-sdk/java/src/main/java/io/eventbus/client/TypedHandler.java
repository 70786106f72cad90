package io.eventbus.client;

/**
 * Handler of the events of a subscription with their decoded payloads; called as {@link
 * EventHandler} is.
 *
 * @param <T> the type of the payloads
 */
@FunctionalInterface
public interface TypedHandler<T> {
  /**
   * Handles an event.
   *
   * @param value the decoded payload
   * @param event the event that it came in
   * @throws Exception if the event could not be handled; it is not delivered again
   */
  void onEvent(T value, ReceivedEvent event) throws Exception;

  /**
   * Called when events are missing: see {@link EventHandler#onGap}.
   *
   * @param gap the missing events
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onGap(Gap gap) throws Exception {}

  /**
   * Called when events may be missing: see {@link EventHandler#onInterruption}.
   *
   * @param interruption its start and end
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onInterruption(Interruption interruption) throws Exception {}
}
