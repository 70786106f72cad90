package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.client.TokenSupplier;
import io.eventbus.client.WhenFull;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Converter of the options of {@code connect} for the SDK's builder. */
final class Options {
  private Options() {}

  static ClientBuilder builder(JsonNode args) {
    ClientBuilder builder = EventBusClient.builder().name(args.path("name").asText("testee"));
    args.path("urls").forEach(url -> builder.url(url.asText()));
    args.path("attributes")
        .properties()
        .forEach(a -> builder.attribute(a.getKey(), a.getValue().asText()));
    with(args, "token", value -> builder.token(value.asText()));
    with(args, "user", value -> builder.credentials(value.asText(), args.path("token").asText()));
    with(args, "tokens", value -> builder.tokens(inTurn(value)));
    with(args, "connectTimeout", value -> builder.connectTimeout(millis(value)));
    with(args, "confirmTimeout", value -> builder.confirmTimeout(millis(value)));
    with(args, "silenceTimeout", value -> builder.silenceTimeout(millis(value)));
    with(args, "closeTimeout", value -> builder.closeTimeout(millis(value)));
    with(args, "blockTimeout", value -> builder.blockTimeout(millis(value)));
    with(args, "reconnect", value -> builder.reconnect(policy(value)));
    with(args, "outboundBytes", value -> builder.outboundBufferBytes(value.intValue()));
    with(args, "batchBytes", value -> builder.batchBytes(value.intValue()));
    with(args, "trackedProducers", value -> builder.trackedProducers(value.intValue()));
    with(
        args,
        "whenFull",
        value -> builder.whenFull(value.asText().equals("wait") ? WhenFull.BLOCK : WhenFull.FAIL));
    return builder;
  }

  private static void with(JsonNode args, String name, Consumer<JsonNode> set) {
    if (args.hasNonNull(name)) {
      set.accept(args.get(name));
    }
  }

  /** Returns a supplier of the tokens in turn; the last one is repeated. */
  private static TokenSupplier inTurn(JsonNode tokens) {
    AtomicInteger asked = new AtomicInteger();
    return () -> {
      int next = Math.min(asked.getAndIncrement(), tokens.size() - 1);
      return CompletableFuture.completedFuture(tokens.get(next).asText());
    };
  }

  private static Duration millis(JsonNode value) {
    return Duration.ofNanos((long) (value.doubleValue() * 1e6));
  }

  private static ReconnectPolicy policy(JsonNode value) {
    ReconnectPolicy standard = ReconnectPolicy.DEFAULT;
    if (!value.isObject()) {
      return value.booleanValue() ? standard : ReconnectPolicy.NEVER;
    }
    Duration initial =
        value.hasNonNull("initialDelay")
            ? millis(value.get("initialDelay"))
            : standard.initialDelay();
    Duration max =
        value.hasNonNull("maxDelay") ? millis(value.get("maxDelay")) : standard.maxDelay();
    return new ReconnectPolicy(
        initial,
        max,
        value.path("multiplier").asDouble(standard.multiplier()),
        value.path("jitter").asDouble(standard.jitter()),
        value.path("maxAttempts").asInt(standard.maxAttempts()));
  }
}
