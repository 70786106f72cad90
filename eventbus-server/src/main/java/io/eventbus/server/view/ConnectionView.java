package io.eventbus.server.view;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.util.Map;

/**
 * Client that the bus has welcomed.
 *
 * @param account its account; empty for the default one
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
