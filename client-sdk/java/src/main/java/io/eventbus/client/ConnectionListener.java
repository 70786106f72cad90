package io.eventbus.client;

import java.net.URI;
import java.time.Duration;

/**
 * Listener for a client's connection and events; every method does nothing by default.
 *
 * <p>Called by one thread at a time, never on an I/O thread, in the order in which things happened.
 * A slow listener delays only other listener calls; calls that do not fit in a bounded queue are
 * dropped and counted. Exceptions from it are logged.
 */
public interface ConnectionListener {
  /**
   * Called when a connection is ready: welcomed by the bus, subscriptions requested again.
   *
   * @param connection the new connection
   */
  default void connected(ConnectionInfo connection) {}

  /**
   * Called when a connection has ended.
   *
   * @param code the WebSocket close code; 1006 when there was no Close frame
   * @param reason the text from the bus or the network
   * @param willReconnect whether the client will try again; if not, it is closed now, which is
   *     logged as an error besides
   */
  default void disconnected(int code, String reason, boolean willReconnect) {}

  /**
   * Called when an attempt to reconnect is planned.
   *
   * @param attempt 1 for the first after a connection
   * @param url the address
   * @param delay the time until then
   */
  default void reconnecting(int attempt, URI url, Duration delay) {}

  /**
   * Called when the client has moved to another bus, because its bus asked it to. The new
   * connection was there before the old one was closed: nothing was lost, duplicated or reordered,
   * unless a bus or a connection failed meanwhile, which is reported as at any other time.
   *
   * @param before the connection before
   * @param now the connection now; the producer number is the same
   */
  default void busChanged(ConnectionInfo before, ConnectionInfo now) {}

  /**
   * Called when the bus asked this client to move, and that was not possible. The client stays at
   * its bus, and the bus is told. Nothing was lost.
   *
   * @param url the address of the new bus
   * @param why the reason
   */
  default void busChangeFailed(URI url, String why) {}

  /**
   * Called when events are missing from those that this client received. Called once for each
   * missing event, as soon as it is known: handlers may still be at earlier events. To react in
   * order with the events, override {@link EventHandler#onGap}.
   *
   * @param gap the missing events
   */
  default void gap(Gap gap) {}

  /**
   * Called when a subscription is in force again that was not for some time, because its connection
   * was lost: events of that time may be missing. Called once for each subscription and lost
   * connection. {@link EventHandler#onInterruption} is called in order with the events.
   *
   * @param interruption the subscription, and the time
   */
  default void interruption(Interruption interruption) {}

  /**
   * Called when events that this client published are lost or may be.
   *
   * @param events their number since the last call for this cause
   * @param cause the reason
   */
  default void dropped(long events, DropCause cause) {}

  /**
   * Called for an error that no stage of this client waits for: the bus refused something, or a
   * subscription was ended because the executor would not run its handler.
   *
   * @param problem the error
   */
  default void problem(EventBusException problem) {}

  /**
   * Called when a handler threw an exception, or a payload could not be decoded.
   *
   * @param subscription the handler's subscription
   * @param event the event
   * @param failure the exception
   */
  default void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {}

  /**
   * Called when a consumer of durable topics does not get events. {@link
   * DurableHandler#onTruncated} is called in order with the events; a {@link WorkHandler} is told
   * nothing.
   *
   * @param truncated which, and why
   */
  default void truncated(Truncated truncated) {}

  /**
   * Called when a {@link DurableHandler} threw an exception. It gets the event again.
   *
   * @param subscription the handler's consumer
   * @param position the event's position, or the first one of a {@link Truncated}
   * @param failure the exception
   */
  default void handlerFailed(DurableSubscription subscription, long position, Throwable failure) {}

  /**
   * Called when a {@link WorkHandler} threw an exception. The event comes again, to some consumer,
   * unless the handler has settled it.
   *
   * @param worker the handler's consumer
   * @param position the event's position
   * @param failure the exception
   */
  default void handlerFailed(Worker worker, long position, Throwable failure) {}

  /**
   * Called when the handler of a service failed otherwise than by rejecting the request.
   *
   * @param invocation the request; its caller was told that it failed
   * @param failure the exception that the handler threw, or completed its stage with
   */
  default void requestFailed(Invocation invocation, Throwable failure) {}

  /**
   * Called when the bus did not know this client any more: it publishes under a new number, and its
   * sequence numbers start again at 1. Events that were unconfirmed may be delivered twice.
   *
   * @param before the number until now
   * @param now the new number
   */
  default void producerChanged(long before, long now) {}

  /** Reason why published events are lost, or may be. */
  enum DropCause {
    /**
     * The outbound buffer was full and the client drops events that do not fit. The events are
     * lost.
     */
    BUFFER_FULL,
    /**
     * The connection ended after the events were handed to it, and nobody waited for a
     * confirmation. They may or may not have been delivered.
     */
    CONNECTION_LOST,
    /**
     * The client has come to a bus with a lower limit than the one that they were published for.
     * The events are lost.
     */
    TOO_BIG,
    /** The client was closed before the events were sent. They are lost. */
    CLOSED
  }
}
