package io.eventbus.client;

/**
 * Takes the events of a subscription.
 *
 * <p>Called by one thread at a time for each subscription, in the order of each producer and topic,
 * never on an I/O thread. It may block: the events that follow wait, first in the subscription's
 * buffer, then at the bus, where the overflow policy decides. An exception is counted and told to
 * the {@link ConnectionListener}; the stream goes on with the next event. So is an error.
 *
 * <p>It must not wait for an answer to its own client, as {@code publish(...).join()} or {@link
 * EventBusClient#flush} do: answers come on the same connection behind the events that wait for
 * this handler, so that under load it would wait for itself until a deadline ends it. Use the stage
 * that {@code publish} returns, or another client.
 */
@FunctionalInterface
public interface EventHandler {
  /**
   * Takes an event.
   *
   * @param event the event
   * @throws Exception if the event could not be handled; it is not delivered again
   */
  void onEvent(ReceivedEvent event) throws Exception;

  /**
   * Events are missing: those that follow were published after them. Called in order with the
   * events, so that what a handler reads anew because of it is newer than the events before and
   * older than those after. Not called for subscriptions with a group, which cannot know: see
   * {@link #onInterruption}. Does nothing by default.
   *
   * @param gap which events; {@link Gap#filter} is that of this subscription
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onGap(Gap gap) throws Exception {}

  /**
   * Takes notice that the subscription was not in force for some time, because its connection was
   * lost: events of that time may be missing, also where no gap is told. Called in order with the
   * events: what a handler reads anew because of it holds all that is missing. Does nothing by
   * default.
   *
   * @param interruption from when to when
   * @throws Exception if it could not be handled; that is counted and logged
   */
  default void onInterruption(Interruption interruption) throws Exception {}
}
