package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.ClientCounters;

/** Counters as members of a line. */
final class Counted {
  private Counted() {}

  static ObjectNode of(ClientCounters counters) {
    return Output.object()
        .put("published", counters.published())
        .put("confirmed", counters.confirmed())
        .put("resent", counters.resent())
        .put("droppedFull", counters.droppedFull())
        .put("indeterminate", counters.indeterminate())
        .put("messagesSent", counters.messagesSent())
        .put("received", counters.received())
        .put("duplicates", counters.duplicates())
        .put("missing", counters.missing())
        .put("handlerFailures", counters.handlerFailures())
        .put("reconnects", counters.reconnects())
        .put("busChanges", counters.busChanges())
        .put("bufferedBytes", counters.bufferedBytes());
  }
}
