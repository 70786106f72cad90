package io.eventbus.client;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Delivery of an event to a {@link WorkHandler}, which is settled once: the first of {@link #done},
 * {@link #doneConfirmed}, {@link #retry}, {@link #reject} and {@link #release} counts, and later
 * ones do nothing. Any thread may use it, also after the handler has returned.
 *
 * <p>A settlement may be lost with the connection, or come after the ack timeout. The event then
 * comes again, to some consumer. {@link Worker.Counters#late} counts settlements for which the
 * connection is gone.
 */
public interface WorkDelivery {
  /**
   * Returns the number of this delivery of the event.
   *
   * @return 1 for the first one
   */
  int attempt();

  /**
   * Leaves the settlement to a later call, by any thread: returning from the handler does not
   * settle the event. The event keeps its room in {@link DurableBuilder#bufferBytes} until then.
   */
  void defer();

  /** Settles the event: it is handled, and does not come again. */
  void done();

  /**
   * Settles the event as {@link #done}, and tells when that is stored: then it never comes again.
   *
   * @return a stage that completes when it is stored; or with {@link EventBusException.Refused} if
   *     the bus has given the event to another consumer, with {@link
   *     EventBusException.ConnectionLost} or {@link EventBusException.TimedOut} (after 10 s) if the
   *     outcome is not known, or with {@link IllegalStateException} if the event was settled
   *     otherwise; never on an I/O thread
   */
  CompletionStage<Void> doneConfirmed();

  /** Has the event come again, after a pause that the bus chooses by the number of attempts. */
  void retry();

  /**
   * Has the event come again.
   *
   * @param delay time until then, 0 to 7 days
   * @throws IllegalArgumentException if it is out of range
   */
  void retry(Duration delay);

  /**
   * Makes the event a dead letter, which comes to no consumer.
   *
   * @param reason for people; at most 256 bytes of UTF-8 are kept
   */
  void reject(String reason);

  /** Gives the event back: another consumer gets it at once, and this delivery does not count. */
  void release();

  /**
   * Begins the ack timeout again. Does nothing within an eighth of the ack timeout of the last
   * time, or if the event is settled.
   */
  void extend();
}
