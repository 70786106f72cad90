package io.eventbus.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Client of an event bus: publishes, subscribes, calls services and serves them over one
 * connection, which it makes again when it is lost.
 *
 * <p><b>Order.</b> The events that one client publishes to one topic have the order of the calls
 * that published them, at every subscriber, also across reconnects. Between topics, and between
 * publishers, there is no order.
 *
 * <p><b>Delivery.</b> An event published with {@code publish} is sent again after a reconnect until
 * the bus has confirmed it; an event sent with {@code send} goes out once. A subscription without a
 * group gets each event at most once and is told which ones are missing as far as that is known
 * ({@link EventHandler#onGap}). An event that is published while a subscriber is not connected does
 * not reach it: every subscription, also one with a group, is told of each lost connection ({@link
 * EventHandler#onInterruption}). Events of durable topics are stored: {@link #durable} and {@link
 * #replay} get them also later.
 *
 * <p><b>Threads.</b> Any thread may call any method. Handlers, listeners and the dependents of the
 * stages never run on an I/O thread. All threads of the SDK are daemons and keep no program
 * running: a program that only subscribes has to wait for something itself.
 */
public interface EventBusClient
    extends EventPublisher, EventSubscriber, DurableSubscriber, ServiceClient, AutoCloseable {
  /**
   * Returns a new builder of a client.
   *
   * @return a builder that needs a {@link ClientBuilder#url url}
   */
  static ClientBuilder builder() {
    return new ClientBuilder();
  }

  /**
   * Waits until everything that was published before the call has been sent, and the bus says that
   * it has reached every bus concerned. Events sent with {@code send} that were lost with a
   * connection are not waited for.
   *
   * @param timeout how long to wait
   * @throws EventBusException.TimedOut if it took longer, or the thread was interrupted (it is then
   *     still interrupted); retry
   * @throws EventBusException.Closed if the client is closed
   */
  void flush(Duration timeout);

  /**
   * Flushes as {@link #flush(Duration)} does, without waiting.
   *
   * @return a stage that completes when everything has been sent, or with {@link
   *     EventBusException.TimedOut} after the confirm time-out
   */
  CompletionStage<Void> flushAsync();

  /**
   * Returns the state.
   *
   * @return the state now
   */
  ClientState state();

  /**
   * Returns the connection.
   *
   * @return the connection, or empty without one
   */
  Optional<ConnectionInfo> connection();

  /**
   * Returns the counts of the client.
   *
   * @return a snapshot
   */
  ClientCounters counters();

  /**
   * Closes the client: accepts nothing new, ends subscriptions and services, sends the buffer,
   * waits for confirmations, handlers and answers, and closes the connection. Does nothing if it is
   * closed.
   *
   * @param timeout how long draining may take; zero to close at once. Events that are not sent or
   *     confirmed by then are reported: their stages complete with {@link
   *     EventBusException.ConnectionLost} or {@link EventBusException.Closed}.
   * @return true if everything was sent, confirmed and handled
   */
  boolean close(Duration timeout);

  /** Closes the client as {@link #close(Duration)} does, with the builder's close time-out. */
  @Override
  void close();
}
