package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.client.DurableBuilder;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Start;
import java.time.Duration;

/** Converter of the options of durable topics for the SDK. */
final class DurableOptions {
  private DurableOptions() {}

  static PublishOptions ofPublish(JsonNode args) {
    PublishOptions options = PublishOptions.DEFAULT;
    if (args.hasNonNull("expected")) {
      options = options.withExpected(args.get("expected").longValue());
    }
    if (args.hasNonNull("delay")) {
      options = options.withDelay(Duration.ofMillis(args.get("delay").longValue()));
    }
    if (args.hasNonNull("ttl")) {
      options = options.withTtl(Duration.ofMillis(args.get("ttl").longValue()));
    }
    if (args.hasNonNull("producerName")) {
      options =
          options.withProducer(args.get("producerName").asText(), args.path("number").longValue());
    }
    return options;
  }

  static DurableBuilder consumer(EventBusClient client, JsonNode args) {
    DurableBuilder builder =
        args.hasNonNull("name") ? client.durable(args.get("name").asText()) : client.replay();
    if (args.hasNonNull("filter")) {
      builder.filter(args.get("filter").asText());
    }
    if (args.hasNonNull("journal")) {
      builder.journal(args.get("journal").asText());
    }
    if (args.hasNonNull("start")) {
      Start.Kind kind = Start.Kind.valueOf(args.get("start").asText());
      builder.from(new Start(kind, args.path("from").longValue()));
    }
    if (args.hasNonNull("bufferBytes")) {
      builder.bufferBytes(args.get("bufferBytes").intValue());
    }
    return builder;
  }
}
