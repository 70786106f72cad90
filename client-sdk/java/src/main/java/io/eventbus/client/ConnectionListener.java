package io.eventbus.client;

import java.net.URI;
import java.time.Duration;

/**
 * Hears what happens to a client's connection and events; every method does nothing by default.
 *
 * <p>Called by one thread at a time, never on an I/O thread, in the order in which things happened.
 * A listener that is slow delays only other listener calls; those that do not fit in a bounded
 * queue are dropped and counted. What it throws is logged.
 */
public interface ConnectionListener {
  /**
   * A connection is ready: welcomed by the bus, subscriptions requested again.
   *
   * @param connection what it is connected to
   */
  default void connected(ConnectionInfo connection) {}

  /**
   * A connection has ended.
   *
   * @param code the WebSocket close code; 1006 when there was no Close frame
   * @param reason what the bus or the network said
   * @param willReconnect whether the client will try again; if not, it is closed now, which is
   *     logged as an error besides
   */
  default void disconnected(int code, String reason, boolean willReconnect) {}

  /**
   * A try to reconnect is planned.
   *
   * @param attempt 1 for the first after a connection
   * @param url where to
   * @param delay how long until then
   */
  default void reconnecting(int attempt, URI url, Duration delay) {}

  /**
   * The client goes on at another bus, because its bus asked it to. The new connection was there
   * before the old one was closed: nothing was lost, doubled or put out of order, unless a bus or a
   * connection failed meanwhile, which is told like at any other time.
   *
   * @param before where it was
   * @param now where it is; the producer number is the same
   */
  default void busChanged(ConnectionInfo before, ConnectionInfo now) {}

  /**
   * The bus asked this client to go on at another one, and that was not possible. The client stays
   * where it is, and its bus is told. Nothing was lost.
   *
   * @param url where it should have gone
   * @param why what went wrong
   */
  default void busChangeFailed(URI url, String why) {}

  /**
   * Events are missing from what this client received. Told once for each missing event, as soon as
   * it is known: handlers may still be at earlier events. Who has to do something about it in order
   * with the events overrides {@link EventHandler#onGap}.
   *
   * @param gap which events
   */
  default void gap(Gap gap) {}

  /**
   * A subscription was not in force for some time, because its connection was lost, and is again:
   * events of that time may be missing. Told once for each subscription and lost connection. {@link
   * EventHandler#onInterruption} is told in order with the events.
   *
   * @param interruption which subscription, from when to when
   */
  default void interruption(Interruption interruption) {}

  /**
   * Events that this client published are lost or may be.
   *
   * @param events how many, since the last call for this cause
   * @param cause why
   */
  default void dropped(long events, DropCause cause) {}

  /**
   * Something went wrong that no stage of this client waits for: the bus refused something, or a
   * subscription was ended because the executor would not run its handler.
   *
   * @param problem what, and why
   */
  default void problem(EventBusException problem) {}

  /**
   * A handler threw an exception, or a payload could not be decoded.
   *
   * @param subscription whose handler
   * @param event the event
   * @param failure what it threw
   */
  default void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {}

  /**
   * The handler of a service failed otherwise than by rejecting the request.
   *
   * @param invocation the request; its caller was told that it failed
   * @param failure what the handler threw, or completed its stage with
   */
  default void requestFailed(Invocation invocation, Throwable failure) {}

  /**
   * The bus did not know this client any more: it publishes under a new number, and its sequence
   * numbers start again at 1. Events that were unconfirmed may be delivered twice.
   *
   * @param before the number until now
   * @param now the new number
   */
  default void producerChanged(long before, long now) {}

  /** Why published events are lost, or may be. */
  enum DropCause {
    /** The outbound buffer was full and the client drops what does not fit. The events are lost. */
    BUFFER_FULL,
    /**
     * The connection ended after the events were handed to it, and nobody waited for a
     * confirmation. They may or may not have been delivered.
     */
    CONNECTION_LOST,
    /**
     * The client has come to a bus that takes smaller events than the one that they were published
     * for. The events are lost.
     */
    TOO_BIG,
    /** The client was closed before the events were sent. They are lost. */
    CLOSED
  }
}
