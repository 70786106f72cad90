package io.eventbus.server.admin;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open connection.
 *
 * @param id number on this bus, rising in the order of acceptance
 * @param remoteAddress the client's address and port
 * @param state "UPGRADING", "GREETING", "OPEN" or "CLOSING"
 * @param connectedAt when TCP accepted it
 * @param session id that {@code Welcome} gave, null before
 * @param producer producer number that {@code Welcome} gave, null before
 * @param client name that the client gave in {@code Hello}, null before
 * @param agent software that the client named in {@code Hello}, null before
 * @param attributes attributes that the client gave in {@code Hello}
 * @param subscriptions open subscriptions
 * @param eventsReceived events that it published
 * @param eventsSent events that were sent to it
 * @param eventsDropped events that its overflow policies dropped
 * @param queueBytes bytes that wait for it
 */
public record ConnectionInfo(
    long id,
    String remoteAddress,
    String state,
    Instant connectedAt,
    @Nullable String session,
    @Nullable Long producer,
    @Nullable String client,
    @Nullable String agent,
    Map<String, String> attributes,
    int subscriptions,
    long eventsReceived,
    long eventsSent,
    long eventsDropped,
    long queueBytes) {
  /** Copies the map, so that the record is immutable. */
  public ConnectionInfo {
    attributes = Map.copyOf(attributes);
  }
}
