package io.eventbus.client;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscription whose events are fetched by the application: the pull form.
 *
 * <p>Events that are not fetched stay in the subscription's buffer; when that is full the client
 * reads no more from the bus. Any thread may use a stream; with several, each event goes to one of
 * them.
 */
public interface EventStream extends AutoCloseable {
  /**
   * Waits for the next event. An event counts as handled when the next call is made, or when the
   * client is closed and nothing is left to fetch.
   *
   * @param timeout how long to wait; zero to look only, {@code Duration.ofSeconds(Long.MAX_VALUE)}
   *     for ever
   * @return the next event, or null if none came in time or the stream is closed and empty
   * @throws InterruptedException if the thread is interrupted while it waits; nothing is lost
   */
  @Nullable ReceivedEvent poll(Duration timeout) throws InterruptedException;

  /**
   * Sets the callback for missing events, within {@link #poll}: those that are fetched afterwards
   * were published after them.
   *
   * @param gaps must not use the stream; its exceptions come out of {@link #poll}
   */
  void onGap(Consumer<Gap> gaps);

  /**
   * Sets the callback for interruptions, within {@link #poll}: see {@link
   * EventHandler#onInterruption}.
   *
   * @param interruptions must not use the stream; its exceptions come out of {@link #poll}
   */
  void onInterruption(Consumer<Interruption> interruptions);

  /**
   * Returns the subscription behind the stream.
   *
   * @return the subscription
   */
  Subscription subscription();

  /** Unsubscribes without waiting, and drops events that were not fetched. */
  @Override
  void close();
}
