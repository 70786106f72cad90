package io.eventbus.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Half of an {@link EventBusClient} that calls services and serves them. Any thread may call any
 * method.
 *
 * <p>A service is a name with members; a request goes to one of them, which the bus chooses.
 * Without {@link RequestOptions#idempotent} it is never executed twice. Every failure says with
 * {@link EventBusException.CallFailed#executed} whether a member has begun with it. Requests have
 * no order among each other nor with events.
 *
 * <p>Without a connection a request waits in the client, within its time-out and within {@link
 * ClientBuilder#callBufferBytes}, and is never sent after it. When a connection is lost, requests
 * that were not sent wait on; those that were end with {@link
 * EventBusException.CallFailed.BusLost}, or are sent again if they are idempotent.
 */
public interface ServiceClient {
  /**
   * Makes a request.
   *
   * <p>Cancelling the returned future cancels the request. Code that depends on it runs as with
   * {@link EventPublisher#publish(String, Event)}: on the client's executor, and should not block.
   *
   * @param service the service: a name like a topic, at most 240 bytes of UTF-8
   * @param event the event of the request
   * @param options options of the request
   * @return a future that completes with the answer, or with {@link EventBusException.CallFailed}
   *     or {@link EventBusException.Closed}
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  CompletableFuture<Response> request(String service, Event event, RequestOptions options);

  /**
   * Makes a request with the default options.
   *
   * @param service the service
   * @param event the event of the request
   * @return as above
   */
  default CompletableFuture<Response> request(String service, Event event) {
    return request(service, event, RequestOptions.DEFAULT);
  }

  /**
   * Makes a request and waits for the answer; faster than waiting for {@link #request}, because the
   * thread that reads the answer wakes this one.
   *
   * @param service the service
   * @param event the event of the request
   * @param options options of the request
   * @return the answer
   * @throws EventBusException.CallFailed if there is none; {@link
   *     EventBusException.CallFailed.Cancelled} if the thread was interrupted (it is then still
   *     interrupted)
   * @throws EventBusException.Closed if the client is closed
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  Response call(String service, Event event, RequestOptions options);

  /**
   * Makes a request with the default options and waits for the answer.
   *
   * @param service the service
   * @param event the event of the request
   * @return the answer
   */
  default Response call(String service, Event event) {
    return call(service, event, RequestOptions.DEFAULT);
  }

  /**
   * Makes a request of every member of a service that accepts requests when it comes to the bus; in
   * a cluster those at other buses are not asked. Each subscriber of the returned publisher makes a
   * request of its own, and gets an answer of each member, a failure if there is no reply: exactly
   * as many as there were members, in any order. Then it is complete. An error says that there are
   * no further answers: {@link EventBusException.CallFailed.NoMember}, if no member at the bus
   * serves it.
   *
   * <p>The request is sent once, so that {@link RequestOptions#idempotent}, {@code retry}, {@code
   * waitFor} and {@code member} mean nothing. Cancelling the subscription cancels it. Answers that
   * the subscriber has not asked for wait in this client, bounded by {@link
   * ClientBuilder#callBufferBytes}: beyond, it ends with {@link EventBusException.BufferFull}.
   *
   * @param service the service: a name like a topic, at most 240 bytes of UTF-8
   * @param event the event of the request
   * @param options options of the request
   * @return the answers
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   */
  Flow.Publisher<Answer> gather(String service, Event event, RequestOptions options);

  /**
   * Publishes an event to all members of a service, those without requests included: as {@link
   * EventPublisher#publish(String, Event)} does for a topic, with the same order and confirmation.
   *
   * @param service the service: a name like a topic, at most 240 bytes of UTF-8
   * @param event the event
   * @return as there
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  CompletionStage<Published> broadcast(String service, Event event);

  /**
   * Opens a tunnel to a member of a service.
   *
   * <p>Cancelling the returned future gives it up. When the connection is lost, the tunnel ends
   * with {@link EventBusException.CallFailed.BusLost}.
   *
   * @param service the service: a name like a topic, at most 240 bytes of UTF-8
   * @param event the first event for the member's handler
   * @param options options of the tunnel
   * @return a future that completes when a member has accepted it, with {@link
   *     EventBusException.CallFailed} or with {@link EventBusException.Closed}
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   * @throws EventBusException.PayloadTooBig if the event exceeds a limit of the bus; do not retry
   */
  CompletableFuture<Tunnel> tunnel(String service, Event event, TunnelOptions options);

  /**
   * Opens a tunnel with an empty event.
   *
   * @param service the service
   * @param options options of the request
   * @return as above
   */
  default CompletableFuture<Tunnel> tunnel(String service, TunnelOptions options) {
    return tunnel(service, Event.of(new byte[0]), options);
  }

  /**
   * Makes a request that a member answers with any number of events.
   *
   * @param service the service: a name like a topic, at most 240 bytes of UTF-8
   * @param event the event of the request
   * @param options options of the stream
   * @return a publisher that makes a request for each subscriber, and gives it the events as it
   *     asks for them, on the client's executor; it ends with {@link EventBusException.CallFailed}
   *     after those that came before. Cancelling gives the stream up
   * @throws EventBusException.IllegalTopic if the name breaks the rules; do not retry
   */
  Flow.Publisher<Response> requestStream(String service, Event event, TunnelOptions options);

  /**
   * Makes such a request with the default options.
   *
   * @param service the service
   * @param event the event of the request
   * @return as above
   */
  default Flow.Publisher<Response> requestStream(String service, Event event) {
    return requestStream(service, event, TunnelOptions.DEFAULT);
  }

  /**
   * Becomes a member of a service.
   *
   * @param name a name like a topic, at most 240 bytes of UTF-8
   * @param options maximum number of requests at once, and more
   * @param handler answers the requests
   * @return the service; {@link Service#ready} tells when the bus has it
   * @throws EventBusException.IllegalTopic if the name breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  Service serve(String name, ServiceOptions options, RequestHandler handler);

  /**
   * Becomes a member of a service with the default options.
   *
   * @param name a name like a topic
   * @param handler answers the requests
   * @return as above
   */
  default Service serve(String name, RequestHandler handler) {
    return serve(name, ServiceOptions.DEFAULT, handler);
  }
}
