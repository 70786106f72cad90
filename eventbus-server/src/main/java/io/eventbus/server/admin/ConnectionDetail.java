package io.eventbus.server.admin;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * All that is known of one client.
 *
 * @param connection what the list of connections says, too
 * @param acknowledged how far it has acknowledged each stream; the streams that it acknowledged
 *     last
 */
public record ConnectionDetail(
    @JsonUnwrapped ConnectionView connection, List<Acknowledged> acknowledged) {
  /** Copies the list, so that the record is immutable. */
  public ConnectionDetail {
    acknowledged = List.copyOf(acknowledged);
  }

  /**
   * How far one stream is acknowledged.
   *
   * @param topic the stream's topic
   * @param producer the stream's producer; a string in JSON
   * @param sequence the last acknowledged event
   */
  public record Acknowledged(
      String topic, @JsonFormat(shape = JsonFormat.Shape.STRING) long producer, long sequence) {}
}
