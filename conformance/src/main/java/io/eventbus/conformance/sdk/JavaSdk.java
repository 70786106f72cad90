package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.ClientState;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Overflow;
import io.eventbus.client.SendResult;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Executes requests of the kit with the Java SDK. {@link #take} is for one thread and does not
 * wait.
 */
public final class JavaSdk implements AutoCloseable {
  private static final List<String> CAPABILITIES =
      List.of(
          "publish",
          "send",
          "limits",
          "outbound",
          "confirm-timeout",
          "flush",
          "subscribe",
          "groups",
          "repetitions",
          "forget",
          "pause",
          "interruption",
          "independent",
          "credit",
          "reconnect",
          "proxies",
          "refusals",
          "withdraw",
          "others",
          "previous",
          "credentials",
          "tokens",
          "token-again",
          "authenticate",
          "change",
          "silence",
          "counters",
          "services",
          "calls",
          "retry-refused",
          "gather",
          "broadcast",
          "tunnels",
          "strict",
          "durable",
          "positions",
          "consume",
          "decode",
          "encode",
          "topics",
          "fingerprint");

  private final Output out;
  private final Map<String, CompletableFuture<EventBusClient>> clients = new ConcurrentHashMap<>();
  private final CallOps calls;
  private final Map<String, SdkSubscriber> subscribers = new ConcurrentHashMap<>();
  // Threads of blocking calls of the SDK: closing, and draining.
  private final ExecutorService waiting =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "java-testee");
            thread.setDaemon(true);
            return thread;
          });

  /** Creates a testee without clients. */
  public JavaSdk(Consumer<ObjectNode> lines) {
    this.out = new Output(lines);
    this.calls = new CallOps(out);
  }

  /** Executes a request; the answer follows later. */
  public void take(ObjectNode request) {
    long id = request.path("id").longValue();
    String op = request.path("op").asText();
    String on = request.path("on").asText();
    JsonNode args = request.path("args");
    try {
      switch (op) {
        case "hello" -> out.ok(id, hello());
        case "reset" -> answer(id, reset(), done -> Output.object());
        case "connect" -> connect(id, on, args);
        case "close" -> answer(id, close(client(on), args), JavaSdk::drained);
        case "state" -> out.ok(id, state(on));
        case "counters" -> out.ok(id, Counted.of(client(on).counters()));
        case "publish" -> publish(id, client(on), args);
        case "send" -> out.ok(id, send(client(on), args));
        case "flush" -> answer(id, client(on).flushAsync(), done -> Output.object());
        case "subscribe" -> subscribe(id, on, args);
        case "consume" -> consume(id, on, args);
        case "unsubscribe" -> unsubscribe(id, args);
        case "pause", "resume" -> {
          subscriber(args).pause(op.equals("pause"));
          out.ok(id, Output.object());
        }
        default -> {
          if (CallOps.knows(op)) {
            calls.take(id, op, on, client(on), args);
            return;
          }
          if (TunnelOps.knows(op)) {
            calls.tunnels().take(id, op, on, client(on), args);
            return;
          }
          ObjectNode answer = Questions.answer(op, args);
          if (answer == null) {
            out.broken(id, "op: " + op + " (expected: one of the README)");
          } else {
            out.write(answer.put("id", id));
          }
        }
      }
    } catch (Missing | IllegalStateException e) {
      out.broken(id, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      out.failed(id, e);
    }
  }

  private static ObjectNode hello() {
    ObjectNode hello = Output.object().put("protocol", 1).put("agent", "eventbus-java");
    ArrayNode capabilities = hello.putArray("capabilities");
    CAPABILITIES.forEach(capabilities::add);
    return hello;
  }

  private <T> void answer(long id, CompletionStage<T> stage, Function<T, ObjectNode> answer) {
    stage.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            out.ok(id, answer.apply(value));
          } else {
            out.failed(id, failure);
          }
        });
  }

  private void connect(long id, String name, JsonNode args) {
    CompletionStage<EventBusClient> connecting =
        Options.builder(args).listener(new EventWriter(out, name)).connectAsync();
    CompletableFuture<EventBusClient> client = connecting.toCompletableFuture();
    clients.put(name, client);
    connecting.whenComplete(
        (connected, failure) -> {
          if (failure != null) {
            clients.remove(name, client);
            out.failed(id, failure);
          } else {
            ObjectNode answer = Output.object();
            connected.connection().ifPresent(info -> answer.setAll(EventWriter.connection(info)));
            out.ok(id, answer);
          }
        });
  }

  private EventBusClient client(String name) {
    CompletableFuture<EventBusClient> client = clients.get(name);
    EventBusClient connected =
        client == null || client.isCompletedExceptionally() ? null : client.getNow(null);
    if (connected == null) {
      throw new Missing("on: " + name + " (expected: a client that was connected)");
    }
    return connected;
  }

  private SdkSubscriber subscriber(JsonNode args) {
    String name = args.path("subscription").asText();
    SdkSubscriber subscriber = subscribers.get(name);
    if (subscriber == null) {
      throw new Missing("subscription: " + name + " (expected: one that was made)");
    }
    return subscriber;
  }

  private ObjectNode state(String name) {
    CompletableFuture<EventBusClient> future = clients.get(name);
    if (future == null) {
      throw new Missing("on: " + name + " (expected: a client)");
    }
    ObjectNode answer = Output.object();
    EventBusClient client = future.getNow(null);
    if (client == null) {
      return answer.put("state", ClientState.CONNECTING.name());
    }
    answer.put("state", client.state().name());
    client.connection().ifPresent(info -> answer.set("connection", EventWriter.connection(info)));
    return answer;
  }

  private void publish(long id, EventBusClient client, JsonNode args) {
    answer(
        id,
        client.publish(args.path("topic").asText(), event(args), DurableOptions.ofPublish(args)),
        published ->
            Output.object()
                .put("topic", published.topic())
                .put("producer", Long.toString(published.producer()))
                .put("sequence", published.sequence())
                .put("position", published.position())
                .put("repeated", published.repeated()));
  }

  private static ObjectNode send(EventBusClient client, JsonNode args) {
    SendResult result = client.send(args.path("topic").asText(), event(args));
    return Output.object().put("accepted", result.accepted());
  }

  static Event event(JsonNode args) {
    try {
      Event.Builder event = Event.builder(args.path("payload").binaryValue());
      if (args.hasNonNull("key")) {
        event.key(args.get("key").asText());
      }
      args.path("headers")
          .properties()
          .forEach(h -> event.header(h.getKey(), h.getValue().asText()));
      if (args.hasNonNull("publishedAt")) {
        event.publishedAtMicros(args.get("publishedAt").longValue());
      }
      if (args.hasNonNull("schema")) {
        event.schema(Long.parseLong(args.get("schema").asText()));
      }
      return event.build();
    } catch (IOException e) {
      throw new UncheckedIOException("payload: no base64", e);
    }
  }

  private void subscribe(long id, String on, JsonNode args) {
    String name = args.path("as").asText();
    SdkSubscriber subscriber = new SdkSubscriber(out, on, name);
    SubscribeOptions options = SubscribeOptions.DEFAULT;
    if (args.hasNonNull("group")) {
      options = options.withGroup(args.get("group").asText());
    }
    if (args.hasNonNull("overflow")) {
      options = options.withOverflow(Overflow.valueOf(args.get("overflow").asText()));
    }
    if (args.hasNonNull("bufferBytes")) {
      options = options.withBufferBytes(args.get("bufferBytes").intValue());
    }
    subscribers.put(name, subscriber);
    Subscription made = client(on).subscribe(args.path("filter").asText(), options, subscriber);
    subscriber.unsubscribe = made::unsubscribe;
    answer(id, made.ready(), ready -> Output.object());
  }

  private void consume(long id, String on, JsonNode args) {
    String name = args.path("as").asText();
    SdkSubscriber subscriber = new SdkSubscriber(out, on, name);
    subscribers.put(name, subscriber);
    DurableSubscription made = DurableOptions.consumer(client(on), args).handler(subscriber);
    subscriber.unsubscribe = made::unsubscribe;
    answer(id, made.ready(), ready -> Output.object());
  }

  private void unsubscribe(long id, JsonNode args) {
    Supplier<CompletionStage<Void>> unsubscribe = subscriber(args).unsubscribe;
    if (unsubscribe == null) {
      throw new Missing("subscription: " + args + " (expected: one that is not refused)");
    }
    answer(id, unsubscribe.get(), done -> Output.object());
  }

  private CompletionStage<Boolean> close(EventBusClient client, JsonNode args) {
    JsonNode timeout = args.path("timeout");
    return CompletableFuture.supplyAsync(
        () -> {
          if (timeout instanceof MissingNode || timeout.isNull()) {
            return client.close(Duration.ofSeconds(10));
          }
          return client.close(Duration.ofMillis(timeout.longValue()));
        },
        waiting);
  }

  private static ObjectNode drained(boolean drained) {
    return Output.object().put("drained", drained);
  }

  private CompletionStage<Void> reset() {
    subscribers.values().forEach(SdkSubscriber::end);
    subscribers.clear();
    calls.reset();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    clients
        .values()
        .forEach(
            client -> {
              CompletableFuture<Boolean> end =
                  client.thenApplyAsync(connected -> connected.close(Duration.ZERO), waiting);
              ends.add(client.isDone() ? end : CompletableFuture.completedFuture(true));
            });
    clients.clear();
    return CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new))
        .completeOnTimeout(null, 4, TimeUnit.SECONDS)
        .exceptionally(failure -> null);
  }

  /** Ends all clients. */
  @Override
  public void close() {
    reset().toCompletableFuture().join();
    waiting.shutdown();
  }

  /** Thrown for a request that names something unknown, which is a fault of the kit. */
  private static final class Missing extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Missing(String message) {
      super(message);
    }
  }
}
