package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.protocol.EventCursor;

/** Conversion of received events. */
final class Events {
  private Events() {}

  /** Returns a copy: the message that it came in is not kept alive. */
  static Event of(EventCursor cursor, long schema) {
    Event.Builder event =
        Event.builder(cursor.payload()).key(cursor.key()).headers(cursor.headers()).schema(schema);
    if (cursor.publishedAt() != Long.MIN_VALUE) {
      // That value stands for "now" here, and is no time that anybody means.
      event.publishedAtMicros(cursor.publishedAt());
    }
    return event.build();
  }
}
