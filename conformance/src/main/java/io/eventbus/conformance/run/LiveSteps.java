package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.conformance.live.LiveCluster;
import io.eventbus.conformance.live.Proxy;
import io.eventbus.conformance.scenario.ScenarioFailure;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Steps with live buses, each behind a proxy of the scenario. */
final class LiveSteps implements AutoCloseable {
  private static final AtomicLong RUNS = new AtomicLong();

  private final ConversationStage stage;
  private final ClientSteps client;
  private final LiveCluster cluster;
  private final Map<String, Proxy> proxies = new LinkedHashMap<>();
  private final Set<Integer> drained = new HashSet<>();

  LiveSteps(ConversationStage stage, ClientSteps client, LiveCluster cluster) {
    this.stage = stage;
    this.client = client;
    this.cluster = cluster;
    for (int i = 0; i < cluster.size(); i++) {
      String name = String.valueOf((char) ('A' + i));
      Proxy proxy = new Proxy(cluster.port(i));
      proxies.put(name, proxy);
      stage.variables.set(name, "ws://127.0.0.1:" + proxy.port() + "/bus");
    }
    // Without the proxy that the script breaks, for a client that only watches.
    stage.variables.set("D", "ws://127.0.0.1:" + cluster.port(0) + "/bus");
    // Scenarios share buses, and are kept apart by their topics.
    stage.variables.set("T", "t" + RUNS.incrementAndGet());
  }

  boolean play(String kind, JsonNode step) throws ScenarioFailure {
    switch (kind) {
      case "proxy" -> proxy(step);
      case "drain" -> drain(step.asText().charAt(0) - 'A', true);
      case "judge" -> new Judge(stage, client, step).judge();
      default -> {
        return false;
      }
    }
    return true;
  }

  private void proxy(JsonNode step) throws ScenarioFailure {
    Proxy proxy = proxies.get(step.path("at").asText("A"));
    if (proxy == null) {
      throw new ScenarioFailure("at: no bus of that name");
    }
    if (step.has("refuse")) {
      proxy.refuse(step.get("refuse").asBoolean());
    }
    if (step.has("stop")) {
      proxy.stop(step.get("stop").asBoolean());
    }
    if (step.path("cut").asBoolean()) {
      proxy.cut();
    }
  }

  private void drain(int bus, boolean on) throws ScenarioFailure {
    try {
      cluster.drain(bus, on);
      drained.add(bus);
    } catch (IOException e) {
      throw new ScenarioFailure("the bus cannot be drained: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    proxies.values().forEach(Proxy::close);
    for (int bus : drained) {
      try {
        cluster.drain(bus, false);
      } catch (IOException e) {
        throw new IllegalStateException("a bus does not take clients again", e);
      }
    }
  }
}
