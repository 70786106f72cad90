package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Invocation;
import io.eventbus.client.Priority;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.RetryPolicy;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Operations of the kit about calls. {@link #take} is for one thread. */
final class CallOps {
  private final Output out;
  private final Map<String, Service> services = new ConcurrentHashMap<>();
  private final Map<String, CompletableFuture<Response>> requests = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<Event>> invocations = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final TunnelOps tunnels;

  CallOps(Output out) {
    this.out = out;
    this.tunnels = new TunnelOps(out);
  }

  TunnelOps tunnels() {
    return tunnels;
  }

  /** Returns whether an operation is one of these. */
  static boolean knows(String op) {
    return switch (op) {
      case "serve", "unserve", "request", "gather", "broadcast", "cancel", "reply", "reject" ->
          true;
      default -> false;
    };
  }

  /**
   * Executes a request; the answer follows later.
   *
   * @throws IllegalStateException if it names something unknown
   */
  void take(long id, String op, String on, EventBusClient client, JsonNode args) {
    switch (op) {
      case "serve" -> serve(id, on, client, args);
      case "unserve" ->
          answer(
              id,
              known(services.get(args.path("service").asText()), args)
                  .close(Duration.ofSeconds(5)));
      case "request" -> request(id, client, args);
      case "gather" ->
          client
              .gather(args.path("service").asText(), JavaSdk.event(args), options(args))
              .subscribe(new Gathered(id, out));
      case "broadcast" ->
          answer(id, client.broadcast(args.path("service").asText(), JavaSdk.event(args)));
      case "cancel" -> {
        known(requests.get(args.path("request").asText()), args).cancel(false);
        out.ok(id, Output.object());
      }
      default -> {
        CompletableFuture<Event> open =
            known(invocations.remove(args.path("invocation").longValue()), args);
        if (op.equals("reply")) {
          open.complete(JavaSdk.event(args));
        } else {
          open.completeExceptionally(rejected(args));
        }
        out.ok(id, Output.object());
      }
    }
  }

  private static <T> T known(@org.jspecify.annotations.Nullable T named, JsonNode args) {
    if (named == null) {
      throw new IllegalStateException(args + " (expected: names that were given)");
    }
    return named;
  }

  private static Rejected rejected(JsonNode args) {
    String message = args.path("message").asText();
    return switch (args.path("reason").asText()) {
      case "REFUSED" -> Rejected.refused(message, Duration.ZERO);
      case "UNKNOWN_METHOD" -> Rejected.unknownMethod(args.path("method").asText());
      default -> Rejected.failed(args.path("type").asText(), message, new byte[0]);
    };
  }

  private void serve(long id, String on, EventBusClient client, JsonNode args) {
    String name = args.path("as").asText();
    ServiceOptions options =
        ServiceOptions.DEFAULT
            .withConcurrency(args.path("concurrency").asInt(16))
            .withRememberReplies(args.path("rememberReplies").asInt(0));
    Service service =
        client.serve(
            args.path("service").asText(), options, invocation -> invoked(on, name, invocation));
    if (args.path("broadcasts").asBoolean()) {
      service.onBroadcast(
          event ->
              out.write(
                  out.event("broadcast", on).put("service", name).put("payload", event.payload())));
    }
    if (args.path("tunnels").asBoolean()) {
      tunnels.serve(on, name, service, args);
    }
    services.put(name, service);
    answer(id, service.ready());
  }

  private CompletionStage<Event> invoked(String on, String name, Invocation invocation) {
    long number = numbers.incrementAndGet();
    CompletableFuture<Event> answer = new CompletableFuture<>();
    invocations.put(number, answer);
    ObjectNode line = out.event("invoked", on).put("service", name).put("invocation", number);
    line.put("method", invocation.method()).put("caller", Long.toString(invocation.caller()));
    line.put("request", invocation.request()).put("attempt", invocation.attempt());
    line.put("identity", invocation.identity());
    out.write(line.put("payload", invocation.event().payload()));
    invocation.onCancel(
        () ->
            out.write(
                out.event("invocationCancelled", on)
                    .put("service", name)
                    .put("invocation", number)));
    return answer;
  }

  // Its outcome is written here; the future itself is of no interest.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void request(long id, EventBusClient client, JsonNode args) {
    CompletableFuture<Response> answer =
        client.request(args.path("service").asText(), JavaSdk.event(args), options(args));
    if (args.hasNonNull("as")) {
      requests.put(args.get("as").asText(), answer);
    }
    answer.whenComplete(
        (response, failure) -> {
          if (failure == null) {
            out.ok(
                id,
                Output.object()
                    .put("payload", response.event().payload())
                    .put("member", Long.toString(response.member())));
          } else {
            out.failed(id, failure);
          }
        });
  }

  private static RequestOptions options(JsonNode args) {
    RequestOptions options =
        RequestOptions.DEFAULT
            .withTimeout(millis(args, "timeout", 5_000))
            .withWaitFor(millis(args, "waitFor", 0))
            .withMethod(args.path("method").asText(""))
            .withIdempotent(args.path("idempotent").asBoolean())
            .withPriority(Priority.valueOf(args.path("priority").asText("NORMAL")))
            .withMember(Long.parseLong(args.path("member").asText("0")));
    return args.path("retry").asBoolean(true) ? options : options.withRetry(RetryPolicy.NONE);
  }

  private static Duration millis(JsonNode args, String name, long otherwise) {
    return Duration.ofMillis(args.path(name).asLong(otherwise));
  }

  private void answer(long id, CompletionStage<?> stage) {
    stage.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            out.ok(id, Output.object());
          } else {
            out.failed(id, failure);
          }
        });
  }

  /** Forgets all names. */
  void reset() {
    services.clear();
    requests.clear();
    invocations.clear();
    tunnels.reset();
  }
}
