package io.eventbus.client;

import java.util.concurrent.Flow;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificRecord;

/**
 * Subscribing half of an {@link EventBusClient}, which states the guarantees of order and delivery.
 * Any thread may call any method.
 */
public interface EventSubscriber {
  /**
   * Subscribes with the default options.
   *
   * @param filter a topic, or a filter with {@code *} for one token and a last {@code >} for one or
   *     more
   * @param handler handles the events, one at a time
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
   * @param handler handles the events, one at a time
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
   * @param handler handles the events, one at a time
   * @return the subscription
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default <T> Subscription subscribe(
      String filter, SubscribeOptions options, PayloadCodec<T> codec, TypedHandler<T> handler) {
    return subscribe(filter, options, new DecodingHandler<>(codec, handler));
  }

  /**
   * Subscribes to records of a generated class, with the default options.
   *
   * @param <T> the generated class
   * @param filter as above
   * @param type the generated class
   * @param handler handles the events, one at a time
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
   * @param handler handles the events, one at a time
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
   * Creates a publisher of reactive streams, with the default options.
   *
   * @param filter as above
   * @return a publisher: see {@link #publisher(String, SubscribeOptions)}
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   */
  default Flow.Publisher<ReceivedEvent> publisher(String filter) {
    return publisher(filter, SubscribeOptions.DEFAULT);
  }

  /**
   * Creates a publisher of reactive streams. Each of its subscribers has a subscription of its own,
   * and gets no more events than it has requested; the rest stays in the buffer, and then at the
   * bus. A {@link GapSubscriber} is told of missing events. Its {@code onError} is called when the
   * bus refuses the subscription, its {@code onComplete} when the client is closed.
   *
   * @param filter as above
   * @param options group, overflow policy, buffer
   * @return a publisher
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   */
  Flow.Publisher<ReceivedEvent> publisher(String filter, SubscribeOptions options);
}
