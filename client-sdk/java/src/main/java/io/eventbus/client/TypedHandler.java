package io.eventbus.client;

/**
 * Takes the events of a subscription with their decoded payloads; called as {@link EventHandler}
 * is.
 *
 * @param <T> the type of the payloads
 */
@FunctionalInterface
public interface TypedHandler<T> {
  /**
   * Takes an event.
   *
   * @param value the decoded payload
   * @param event the event that it came in
   * @throws Exception if the event could not be handled; it is not delivered again
   */
  void onEvent(T value, ReceivedEvent event) throws Exception;

  /**
   * Events are missing: see {@link EventHandler#onGap}.
   *
   * @param gap which events
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onGap(Gap gap) throws Exception {}

  /**
   * Takes notice that events may be missing: see {@link EventHandler#onInterruption}.
   *
   * @param interruption from when to when
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onInterruption(Interruption interruption) throws Exception {}
}
