package io.eventbus.client;

/**
 * Handler of the events of a subscription.
 *
 * <p>Called by one thread at a time for each subscription, in the order of each producer and topic,
 * never on an I/O thread. It may block: the events that follow wait, first in the subscription's
 * buffer, then at the bus, where the overflow policy decides. An exception or error is counted and
 * told to the {@link ConnectionListener}; the stream goes on with the next event.
 *
 * <p>It must not wait for an answer to its own client, as {@code publish(...).join()} or {@link
 * EventBusClient#flush} do: answers come on the same connection behind the events that wait for
 * this handler, so that under load it would wait for itself until a deadline ends it. Use the stage
 * that {@code publish} returns, or another client.
 */
@FunctionalInterface
public interface EventHandler {
  /**
   * Handles an event.
   *
   * @param event the event
   * @throws Exception if the event could not be handled; it is not delivered again
   */
  void onEvent(ReceivedEvent event) throws Exception;

  /**
   * Called when events are missing: those that follow were published after them. Called in order
   * with the events, so that state which a handler reads anew because of it is newer than the
   * events before and older than those after. Not called for subscriptions with a group, which
   * cannot know: see {@link #onInterruption}. Does nothing by default.
   *
   * @param gap the missing events; {@link Gap#filter} is that of this subscription
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onGap(Gap gap) throws Exception {}

  /**
   * Called when the subscription was not in force for some time, because its connection was lost:
   * events of that time may be missing, even if no gap is reported. Called in order with the
   * events: state that a handler reads anew because of it includes all that is missing. Does
   * nothing by default.
   *
   * @param interruption its start and end
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onInterruption(Interruption interruption) throws Exception {}
}
