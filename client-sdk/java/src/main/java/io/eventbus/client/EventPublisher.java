package io.eventbus.client;

import java.util.concurrent.CompletionStage;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificRecord;

/**
 * Publishing half of an {@link EventBusClient}, which states the guarantees of order and delivery.
 * Any thread may call any method.
 *
 * <p>There may be any number of topics. Of those that are quiet a client remembers 50,000 whole,
 * and of up to 1,000,000 others the number of their next event, in 32 to 64 bytes each. When there
 * are still more, all those numbers are dropped; such a topic goes on with a higher number, and a
 * subscriber that still remembers it is told of a {@link Gap} that is none.
 */
public interface EventPublisher {
  /**
   * Publishes an event and tells when the bus has confirmed it.
   *
   * <p>With {@link WhenFull#BLOCK} the call waits for room in the outbound buffer; otherwise it
   * does not wait.
   *
   * <p>Code that depends on the stage runs on the client's executor ({@link
   * ClientBuilder#executor}), and should not block: the stages of a client are completed one after
   * the other. When a dependent blocks all the same, another thread goes on with the other stages
   * after a second or two, and that is logged; deadlines and the end of the client are told in any
   * case. Use {@code thenCompose} to publish the next event, and {@code thenRunAsync} and the like
   * for code that blocks.
   *
   * @param topic the topic
   * @param event the event
   * @return a stage that completes when the bus has the event, or with {@link
   *     EventBusException.Refused}, {@link EventBusException.BufferFull} (not sent: retry later),
   *     {@link EventBusException.TimedOut} or {@link EventBusException.ConnectionLost} (may or may
   *     not be delivered), {@link EventBusException.Closed}
   * @throws EventBusException.IllegalTopic if the topic breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  CompletionStage<Published> publish(String topic, Event event);

  /**
   * Publishes an event to a durable topic with options, as {@link #publish(String, Event)} does.
   * The event travels alone in its frame.
   *
   * @param topic the topic
   * @param event the event
   * @param options expectation, delay, time to live, producer
   * @return a stage that completes when the event is stored, or as above; with {@link
   *     EventBusException.Refused} and {@link ErrorCode#UNSUPPORTED} where the bus has no durable
   *     topics
   * @throws EventBusException.IllegalTopic if the topic, or the name of the producer, breaks the
   *     rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  CompletionStage<Published> publish(String topic, Event event, PublishOptions options);

  /**
   * Publishes bytes, as {@link #publish(String, Event)} does.
   *
   * @param topic the topic
   * @param payload the payload; not copied, do not change it until the call returns
   * @return a stage that completes when the bus has the event
   */
  default CompletionStage<Published> publish(String topic, byte[] payload) {
    return publish(topic, Event.of(payload));
  }

  /**
   * Publishes text in UTF-8, as {@link #publish(String, Event)} does.
   *
   * @param topic the topic
   * @param text the payload
   * @return a stage that completes when the bus has the event
   */
  default CompletionStage<Published> publish(String topic, String text) {
    return publish(topic, Event.of(text));
  }

  /**
   * Publishes a record with the fingerprint of its schema, as {@link #publish(String, Event)} does.
   *
   * @param topic the topic
   * @param record an instance of a generated class
   * @return a stage that completes when the bus has the event
   * @throws EventBusException.UnreadablePayload if the record is not complete
   */
  CompletionStage<Published> publish(String topic, SpecificRecord record);

  /**
   * Publishes a record with the fingerprint of its schema, as {@link #publish(String, Event)} does.
   *
   * @param topic the topic
   * @param schema the schema to write with
   * @param record the payload
   * @return a stage that completes when the bus has the event
   * @throws EventBusException.UnreadablePayload if the record does not fit the schema
   */
  CompletionStage<Published> publish(String topic, Schema schema, GenericRecord record);

  /**
   * Sends an event without waiting for a confirmation: the cheap way. The event goes out once; if
   * the connection is lost meanwhile it may or may not be delivered, which is counted and told to
   * the {@link ConnectionListener}.
   *
   * @param topic the topic
   * @param event the event
   * @return the result; only {@link SendResult#ACCEPTED} means that it is on its way
   * @throws EventBusException.IllegalTopic if the topic breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  SendResult send(String topic, Event event);

  /**
   * Sends bytes, as {@link #send(String, Event)} does.
   *
   * @param topic the topic
   * @param payload the payload; not copied, do not change it until the call returns
   * @return the result
   */
  default SendResult send(String topic, byte[] payload) {
    return send(topic, Event.of(payload));
  }

  /**
   * Sends text in UTF-8, as {@link #send(String, Event)} does.
   *
   * @param topic the topic
   * @param text the payload
   * @return the result
   */
  default SendResult send(String topic, String text) {
    return send(topic, Event.of(text));
  }

  /**
   * Sends a record with the fingerprint of its schema, as {@link #send(String, Event)} does.
   *
   * @param topic the topic
   * @param record an instance of a generated class
   * @return the result
   * @throws EventBusException.UnreadablePayload if the record is not complete
   */
  SendResult send(String topic, SpecificRecord record);

  /**
   * Sends a record with the fingerprint of its schema, as {@link #send(String, Event)} does.
   *
   * @param topic the topic
   * @param schema the schema to write with
   * @param record the payload
   * @return the result
   * @throws EventBusException.UnreadablePayload if the record does not fit the schema
   */
  SendResult send(String topic, Schema schema, GenericRecord record);
}
