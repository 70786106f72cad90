package io.eventbus.server.view;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/** Details of one client. */
public record ConnectionDetail(
    @JsonUnwrapped ConnectionView connection, List<Acknowledged> acknowledged) {
  /** Copies the list, so that the record is immutable. */
  public ConnectionDetail {
    acknowledged = List.copyOf(acknowledged);
  }

  /** Acknowledged position of one stream. */
  public record Acknowledged(
      String topic, @JsonFormat(shape = JsonFormat.Shape.STRING) long producer, long sequence) {}
}
