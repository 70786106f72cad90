package io.eventbus.server.admin;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.util.Map;

/**
 * A client that the bus has welcomed.
 *
 * @param id number on this bus, rising in the order of the welcomes
 * @param remoteAddress the client's address and port
 * @param connectedAt when it was welcomed
 * @param session id that {@code Welcome} gave
 * @param producer producer number that {@code Welcome} gave; a string in JSON, because most readers
 *     of JSON round numbers above 2<sup>53</sup>
 * @param account whose client it is; empty for the default account
 * @param client name that the client gave in {@code Hello}
 * @param agent software that the client named in {@code Hello}
 * @param attributes attributes that the client gave in {@code Hello}
 * @param subscriptions open subscriptions
 * @param eventsReceived events that it published
 * @param eventsSent events that were sent to it
 * @param eventsDropped events that its overflow policies dropped
 * @param acknowledgements {@code Ack} frames that came from it
 * @param queueBytes bytes that wait for it
 */
public record ConnectionView(
    long id,
    String remoteAddress,
    Instant connectedAt,
    String session,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long producer,
    String account,
    String client,
    String agent,
    Map<String, String> attributes,
    int subscriptions,
    long eventsReceived,
    long eventsSent,
    long eventsDropped,
    long acknowledgements,
    long queueBytes) {
  /** Copies the map, so that the record is immutable. */
  public ConnectionView {
    attributes = Map.copyOf(attributes);
  }
}
