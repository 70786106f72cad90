package io.eventbus.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificRecord;

/**
 * A client of an event bus: publishes and subscribes over one connection, which it makes again when
 * it is lost.
 *
 * <p><b>Order.</b> The events that one client publishes to one topic have the order of the calls
 * that published them, at every subscriber, also across reconnects. Between topics, and between
 * publishers, there is no order.
 *
 * <p><b>Delivery.</b> An event published with {@code publish} is sent again after a reconnect until
 * the bus has confirmed it; an event sent with {@code send} goes out once. A subscriber gets each
 * event at most once and is told exactly which ones are missing ({@link ConnectionListener#gap});
 * subscriptions with a group get each event at least once. What is published while a subscriber is
 * not connected does not reach it.
 *
 * <p><b>Threads.</b> Any thread may call any method. Handlers, listeners and the dependents of the
 * stages never run on an I/O thread.
 */
public interface EventBusClient extends AutoCloseable {
  /**
   * Starts a client.
   *
   * @return a builder that needs a {@link ClientBuilder#url url}
   */
  static ClientBuilder builder() {
    return new ClientBuilder();
  }

  /**
   * Publishes an event and tells when the bus has confirmed it.
   *
   * <p>With {@link WhenFull#BLOCK} the call waits for room in the outbound buffer; otherwise it
   * does not wait.
   *
   * @param topic where to
   * @param event what
   * @return a stage that completes when the bus has the event, or with {@link
   *     EventBusException.Refused}, {@link EventBusException.BufferFull} (not sent: retry later),
   *     {@link EventBusException.TimedOut} or {@link EventBusException.ConnectionLost} (may or may
   *     not be delivered), {@link EventBusException.Closed}
   * @throws EventBusException.IllegalTopic if the topic breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event is over a limit of the bus; do not retry
   */
  CompletionStage<Published> publish(String topic, Event event);

  /**
   * Publishes bytes, as {@link #publish(String, Event)} does.
   *
   * @param topic where to
   * @param payload what; not copied, do not change it until the call returns
   * @return a stage that completes when the bus has the event
   */
  default CompletionStage<Published> publish(String topic, byte[] payload) {
    return publish(topic, Event.of(payload));
  }

  /**
   * Publishes text in UTF-8, as {@link #publish(String, Event)} does.
   *
   * @param topic where to
   * @param text what
   * @return a stage that completes when the bus has the event
   */
  default CompletionStage<Published> publish(String topic, String text) {
    return publish(topic, Event.of(text));
  }

  /**
   * Publishes a record with the fingerprint of its schema, as {@link #publish(String, Event)} does.
   *
   * @param topic where to
   * @param record an instance of a generated class
   * @return a stage that completes when the bus has the event
   * @throws EventBusException.UnreadablePayload if the record is not complete
   */
  CompletionStage<Published> publish(String topic, SpecificRecord record);

  /**
   * Publishes a record with the fingerprint of its schema, as {@link #publish(String, Event)} does.
   *
   * @param topic where to
   * @param schema the schema to write with
   * @param record what
   * @return a stage that completes when the bus has the event
   * @throws EventBusException.UnreadablePayload if the record does not fit the schema
   */
  CompletionStage<Published> publish(String topic, Schema schema, GenericRecord record);

  /**
   * Sends an event without waiting for a confirmation: the cheap way. The event goes out once; if
   * the connection is lost under way it may or may not be delivered, which is counted and told to
   * the {@link ConnectionListener}.
   *
   * @param topic where to
   * @param event what
   * @return what became of it; only {@link SendResult#ACCEPTED} means that it is on its way
   * @throws EventBusException.IllegalTopic if the topic breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event is over a limit of the bus; do not retry
   */
  SendResult send(String topic, Event event);

  /**
   * Sends bytes, as {@link #send(String, Event)} does.
   *
   * @param topic where to
   * @param payload what; not copied, do not change it until the call returns
   * @return what became of it
   */
  default SendResult send(String topic, byte[] payload) {
    return send(topic, Event.of(payload));
  }

  /**
   * Sends text in UTF-8, as {@link #send(String, Event)} does.
   *
   * @param topic where to
   * @param text what
   * @return what became of it
   */
  default SendResult send(String topic, String text) {
    return send(topic, Event.of(text));
  }

  /**
   * Sends a record with the fingerprint of its schema, as {@link #send(String, Event)} does.
   *
   * @param topic where to
   * @param record an instance of a generated class
   * @return what became of it
   * @throws EventBusException.UnreadablePayload if the record is not complete
   */
  SendResult send(String topic, SpecificRecord record);

  /**
   * Sends a record with the fingerprint of its schema, as {@link #send(String, Event)} does.
   *
   * @param topic where to
   * @param schema the schema to write with
   * @param record what
   * @return what became of it
   * @throws EventBusException.UnreadablePayload if the record does not fit the schema
   */
  SendResult send(String topic, Schema schema, GenericRecord record);

  /**
   * Subscribes with the default options.
   *
   * @param filter a topic, or a filter with {@code *} for one token and a last {@code >} for one or
   *     more
   * @param handler takes the events, one at a time
   * @return the subscription; {@link Subscription#ready} tells when the bus has it
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default Subscription subscribe(String filter, EventHandler handler) {
    return subscribe(filter, SubscribeOptions.DEFAULT, handler);
  }

  /**
   * Subscribes.
   *
   * @param filter a topic, or a filter with {@code *} for one token and a last {@code >} for one or
   *     more
   * @param options group, overflow policy, buffer
   * @param handler takes the events, one at a time
   * @return the subscription; {@link Subscription#ready} tells when the bus has it
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  Subscription subscribe(String filter, SubscribeOptions options, EventHandler handler);

  /**
   * Subscribes and decodes the payloads. A payload that cannot be decoded counts as a failure of
   * the handler.
   *
   * @param <T> the type of the payloads
   * @param filter as above
   * @param options group, overflow policy, buffer
   * @param codec decodes the payloads
   * @param handler takes the events, one at a time
   * @return the subscription
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default <T> Subscription subscribe(
      String filter, SubscribeOptions options, PayloadCodec<T> codec, TypedHandler<T> handler) {
    return subscribe(
        filter,
        options,
        event -> handler.onEvent(codec.decode(event.payload(), event.schema()), event));
  }

  /**
   * Subscribes to records of a generated class, with the default options.
   *
   * @param <T> the generated class
   * @param filter as above
   * @param type the generated class
   * @param handler takes the events, one at a time
   * @return the subscription
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default <T extends SpecificRecord> Subscription subscribe(
      String filter, Class<T> type, TypedHandler<T> handler) {
    return subscribe(filter, SubscribeOptions.DEFAULT, AvroCodec.of(type), handler);
  }

  /**
   * Subscribes to generic records, with the default options.
   *
   * @param filter as above
   * @param schema the schema to read
   * @param handler takes the events, one at a time
   * @return the subscription
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default Subscription subscribe(
      String filter, Schema schema, TypedHandler<GenericRecord> handler) {
    return subscribe(filter, SubscribeOptions.DEFAULT, AvroCodec.of(schema), handler);
  }

  /**
   * Subscribes in the pull form, with the default options.
   *
   * @param filter as above
   * @return a stream to fetch events from; close it
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default EventStream stream(String filter) {
    return stream(filter, SubscribeOptions.DEFAULT);
  }

  /**
   * Subscribes in the pull form.
   *
   * @param filter as above
   * @param options group, overflow policy, buffer
   * @return a stream to fetch events from; close it
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  EventStream stream(String filter, SubscribeOptions options);

  /**
   * Makes a publisher of reactive streams, with the default options.
   *
   * @param filter as above
   * @return a publisher: see {@link #publisher(String, SubscribeOptions)}
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   */
  default Flow.Publisher<ReceivedEvent> publisher(String filter) {
    return publisher(filter, SubscribeOptions.DEFAULT);
  }

  /**
   * Makes a publisher of reactive streams. Each of its subscribers has a subscription of its own,
   * and gets no more events than it has requested; what it does not request stays in the buffer,
   * and then at the bus. Its {@code onError} is called when the bus refuses the subscription, its
   * {@code onComplete} when the client is closed.
   *
   * @param filter as above
   * @param options group, overflow policy, buffer
   * @return a publisher
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   */
  Flow.Publisher<ReceivedEvent> publisher(String filter, SubscribeOptions options);

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
   * Does what {@link #flush(Duration)} does, without waiting.
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
   * Returns what the client has done.
   *
   * @return a snapshot
   */
  ClientCounters counters();

  /**
   * Closes the client: takes nothing new, ends the subscriptions, sends what is buffered, waits for
   * confirmations and handlers, and closes the connection. Does nothing if it is closed.
   *
   * @param timeout how long draining may take; zero to close at once. What is not sent or confirmed
   *     by then is told: its stages complete with {@link EventBusException.ConnectionLost} or
   *     {@link EventBusException.Closed}.
   * @return true if everything was sent, confirmed and handled
   */
  boolean close(Duration timeout);

  /** Closes the client as {@link #close(Duration)} does, with the builder's close time-out. */
  @Override
  void close();
}
