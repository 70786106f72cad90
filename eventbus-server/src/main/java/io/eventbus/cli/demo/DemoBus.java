package io.eventbus.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.cluster.RegistryHttp;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.demo.DemoBusProcess.Address;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Bus of the demo that listens, with requests to it. For one thread. */
final class DemoBus {
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

  private final DemoBusProcess process;
  private final Address address;
  private final RegistryHttp http;
  private DemoFigures figures = DemoFigures.NONE;
  private boolean ending;

  DemoBus(DemoBusProcess process, Address address) {
    this.process = process;
    this.address = address;
    this.http = new RegistryHttp(address.admin(), "", REQUEST_TIMEOUT);
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

  /** Terminates it in order; from then on its absence is no error. */
  void terminate() {
    ending = true;
    process.terminate();
  }

  /** Ends it at once, as SIGKILL does; from then on its absence is no error. */
  void kill() {
    ending = true;
    process.kill();
  }

  boolean isEnding() {
    return ending;
  }

  /** Returns its figures; after its termination the last ones. */
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

  /** Returns all buses and their states, as this one knows them. */
  Map<String, JsonNode> buses() throws InterruptedException {
    Map<String, JsonNode> buses = new HashMap<>();
    for (JsonNode bus : ask(() -> http.get("/api/v1/buses")).path("items")) {
      buses.put(bus.path("bus").asText(), bus);
    }
    return buses;
  }

  /** Returns the members of the registry, as this bus knows them. */
  Map<String, JsonNode> members() throws InterruptedException {
    Map<String, JsonNode> members = new HashMap<>();
    for (JsonNode member : ask(() -> http.get("/api/v1/registry/members")).path("items")) {
      members.put(member.path("bus").asText(), member);
    }
    return members;
  }

  /** Drains a bus, as {@code eventbus drain} does. */
  void drain(String bus) throws InterruptedException {
    ask(() -> http.send("PUT", "/api/v1/drains/" + bus));
  }

  /** Removes a bus that has ended from the registry, as {@code eventbus registry remove} does. */
  void remove(String bus) throws InterruptedException {
    ask(() -> http.send("DELETE", "/api/v1/registry/members/" + bus));
  }

  /** Asks a client to go to another bus, as {@code eventbus move} does. */
  void move(String client, String to) throws InterruptedException {
    for (JsonNode connection : ask(() -> http.get("/api/v1/connections")).path("items")) {
      if (connection.path("client").asText().equals(client)) {
        String id = connection.path("id").asText();
        ask(() -> http.send("PUT", "/api/v1/moves/" + id + "?to=" + to));
      }
    }
  }

  /**
   * Creates a journal, as {@code eventbus journal create} does.
   *
   * @return whether it said that all buses have it; else ask again
   */
  boolean createJournal(String name, String filter) throws InterruptedException {
    String filters = URLEncoder.encode(filter, StandardCharsets.UTF_8);
    return ask(() -> http.sendIfAble("PUT", "/api/v1/journals/" + name + "?filters=" + filters))
        .isPresent();
  }

  /** Returns the name of the bus that leads the replicas, as this one knows it; else empty. */
  String leader() throws InterruptedException {
    return ask(() -> http.sendIfAble("GET", "/api/v1/shards"))
        .map(shards -> shards.path("items").path(0).path("leader").asText(""))
        .orElse("");
  }

  /** Returns the last position of a journal at this bus; 0 if it cannot say. */
  long lastPosition(String journal) throws InterruptedException {
    return ask(() -> http.sendIfAble("GET", "/api/v1/journals/" + journal))
        .map(found -> found.path("content").path("lastPosition").asLong())
        .orElse(0L);
  }

  /** Returns the position up to which a durable subscription is settled; 0 if it cannot say. */
  long settled(String journal, String subscription) throws InterruptedException {
    Optional<JsonNode> found =
        ask(() -> http.sendIfAble("GET", "/api/v1/journals/" + journal + "/cursors"));
    if (found.isPresent()) {
      for (JsonNode cursor : found.get().path("items")) {
        if (cursor.path("name").asText().equals(subscription)) {
          return cursor.path("settled").asLong();
        }
      }
    }
    return 0;
  }

  private <T> T ask(Question<T> question) throws InterruptedException {
    try {
      return question.ask();
    } catch (CliFailure e) {
      // The death of its process says more than a missing answer.
      throw process.isAlive() ? e : process.failure("has ended", e);
    }
  }

  /** Request to the administration port. */
  @FunctionalInterface
  private interface Question<T> {
    T ask() throws InterruptedException;
  }
}
