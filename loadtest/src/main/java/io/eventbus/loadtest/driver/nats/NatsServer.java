package io.eventbus.loadtest.driver.nats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * A server that runs.
 *
 * @param url where clients connect
 * @param monitor where it tells of itself, empty for a server alone
 */
record NatsServer(ServerProcess process, String url, String monitor) implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /** Connections between two servers, by default: three for ordinary accounts and the system's. */
  private static final int ROUTES_EACH = 4;

  /** Returns whether all routes to so many others are there. */
  boolean isLinked(int others) {
    return ask("/routez").path("num_routes").asInt() >= others * ROUTES_EACH;
  }

  /** Returns its own id. */
  String id() {
    return ask("/varz").path("server_id").asText();
  }

  /** Returns the ids of the servers whose interest in a subject it knows. */
  Set<String> interested(String subject) {
    Set<String> ids = new HashSet<>();
    for (JsonNode route : ask("/routez?subs=1").path("routes")) {
      for (JsonNode known : route.path("subscriptions_list")) {
        if (known.asText().equals(subject)) {
          ids.add(route.path("remote_id").asText());
        }
      }
    }
    return ids;
  }

  private JsonNode ask(String path) {
    try {
      return JSON.readTree(
          HTTP.send(
                  HttpRequest.newBuilder(URI.create(monitor + path)).timeout(DEADLINE).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body());
    } catch (IOException e) {
      throw new DriverException("nats-server does not answer at " + monitor, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while asking nats-server", e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
