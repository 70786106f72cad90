package io.eventbus.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.cluster.RegistryHttp;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.demo.DemoBusProcess.Address;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** A bus of the demo that listens, and what can be asked of it. For one thread. */
final class DemoBus {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final DemoBusProcess process;
  private final Address address;
  private final RegistryHttp http;
  private DemoFigures figures = DemoFigures.NONE;
  private boolean ending;

  DemoBus(DemoBusProcess process, Address address) {
    this.process = process;
    this.address = address;
    this.http = new RegistryHttp(address.admin(), "", TIMEOUT);
  }

  String name() {
    return process.name();
  }

  Address address() {
    return address;
  }

  URI uri() {
    return address.clients();
  }

  DemoBusProcess process() {
    return process;
  }

  /** Tells it to end in order; from then on it is no error that it is not there. */
  void terminate() {
    ending = true;
    process.terminate();
  }

  /** What it says of itself; of one that was told to end, what it said last. */
  DemoFigures figures() throws InterruptedException {
    if (!ending) {
      figures = DemoFigures.parse(ask(() -> http.text("/metrics")));
    } else if (!process.isAlive()) {
      figures =
          new DemoFigures(
              0, false, true, 0, figures.eventsIn(), figures.eventsOut(), figures.forwarded(), 0);
    }
    return figures;
  }

  /** All buses and their states, as this one knows them. */
  Map<String, JsonNode> buses() throws InterruptedException {
    Map<String, JsonNode> buses = new HashMap<>();
    for (JsonNode bus : ask(() -> http.get("/api/v1/buses")).path("items")) {
      buses.put(bus.path("bus").asText(), bus);
    }
    return buses;
  }

  /** The members of the registry, as this bus knows them. */
  Map<String, JsonNode> members() throws InterruptedException {
    Map<String, JsonNode> members = new HashMap<>();
    for (JsonNode member : ask(() -> http.get("/api/v1/registry/members")).path("items")) {
      members.put(member.path("bus").asText(), member);
    }
    return members;
  }

  /** Empties a bus, as {@code eventbus drain} does. */
  void drain(String bus) throws InterruptedException {
    ask(() -> http.send("PUT", "/api/v1/drains/" + bus));
  }

  /** Takes a bus that has ended out of the registry, as {@code eventbus registry remove} does. */
  void remove(String bus) throws InterruptedException {
    ask(() -> http.send("DELETE", "/api/v1/registry/members/" + bus));
  }

  private <T> T ask(Question<T> question) throws InterruptedException {
    try {
      return question.ask();
    } catch (CliFailure e) {
      // That it has died says more than that it does not answer.
      throw process.isAlive() ? e : process.failure("has ended", e);
    }
  }

  /** A question to the administration port. */
  @FunctionalInterface
  private interface Question<T> {
    T ask() throws InterruptedException;
  }
}
