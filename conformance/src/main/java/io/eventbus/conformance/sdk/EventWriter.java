package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.Invocation;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import java.net.URI;
import java.time.Duration;

/** Writer of a client's events as lines. */
final class EventWriter implements ConnectionListener {
  private final Output out;
  private final String client;

  EventWriter(Output out, String client) {
    this.out = out;
    this.client = client;
  }

  static ObjectNode connection(ConnectionInfo info) {
    return Output.object()
        .put("url", info.url().toString())
        .put("bus", info.bus())
        .put("session", info.session())
        .put("producer", Long.toString(info.producer()));
  }

  private ObjectNode event(String name) {
    return out.event(name, client);
  }

  @Override
  public void connected(ConnectionInfo connection) {
    out.write(event("connected").setAll(connection(connection)));
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    out.write(
        event("disconnected")
            .put("code", code)
            .put("reason", reason)
            .put("willReconnect", willReconnect));
  }

  @Override
  public void reconnecting(int attempt, URI url, Duration delay) {
    out.write(
        event("reconnecting")
            .put("attempt", attempt)
            .put("url", url.toString())
            .put("delay", delay.toNanos() / 1e6));
  }

  @Override
  public void busChanged(ConnectionInfo before, ConnectionInfo now) {
    ObjectNode line = event("busChanged");
    line.set("before", connection(before));
    line.set("now", connection(now));
    out.write(line);
  }

  @Override
  public void busChangeFailed(URI url, String why) {
    out.write(event("busChangeFailed").put("url", url.toString()).put("why", why));
  }

  @Override
  public void gap(Gap gap) {
    ObjectNode line = event("gap").put("topic", gap.topic());
    line.put("producer", Long.toString(gap.producer()));
    line.put("from", gap.from()).put("to", gap.to()).put("reason", reason(gap.reason()));
    out.write(line);
  }

  private static String reason(Gap.Reason reason) {
    return switch (reason) {
      case BUFFER_FULL -> Gap.Reason.QUEUE_FULL.name();
      case BUFFER_CONFLATED -> Gap.Reason.CONFLATED.name();
      case LOST, QUEUE_FULL, CONFLATED -> reason.name();
    };
  }

  @Override
  public void dropped(long events, DropCause cause) {
    out.write(event("dropped").put("events", events).put("cause", cause.name()));
  }

  @Override
  public void problem(EventBusException problem) {
    out.write(event("problem").setAll(Output.error(problem)));
  }

  @Override
  public void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {
    out.write(event("handlerError").put("message", failure.toString()));
  }

  @Override
  public void requestFailed(Invocation invocation, Throwable failure) {
    out.write(event("handlerError").put("message", failure.toString()));
  }

  @Override
  public void producerChanged(long before, long now) {
    out.write(
        event("producerChanged")
            .put("before", Long.toString(before))
            .put("now", Long.toString(now)));
  }
}
