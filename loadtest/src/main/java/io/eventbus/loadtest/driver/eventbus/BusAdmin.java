package io.eventbus.loadtest.driver.eventbus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests of an operator to one bus, over its administration port. Any thread. */
final class BusAdmin {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int OK = 200;
  private static final int ACCEPTED = 202;
  private static final Pattern LANES_UP =
      Pattern.compile("(?m)^eventbus_federation_lanes\\{state=\"up\"[^}]*\\} ([0-9.E+]+)$");
  private static final Pattern LANES_DOWN =
      Pattern.compile("(?m)^eventbus_federation_lanes\\{state=\"down\"[^}]*\\} ([0-9.E+]+)$");

  private final String bus;
  private final String address;

  BusAdmin(String bus, String address) {
    this.bus = bus;
    this.address = address;
  }

  /** Returns whether new clients may be sent there. */
  boolean isReady() {
    return ask("GET", "/readyz").statusCode() == OK;
  }

  /**
   * Returns whether it is linked with all others, has heard how much they have to do, and none of
   * them is on its way out.
   */
  boolean isLinked(int others) {
    String metrics = ask("GET", "/metrics").body();
    double up = metric(metrics, LANES_UP);
    if (up < others || metric(metrics, LANES_DOWN) > 0) {
      return false;
    }
    int open = 0;
    for (JsonNode other : json(ask("GET", "/api/v1/buses")).path("items")) {
      boolean heard = other.path("clients").asInt(-1) >= 0 && other.path("load").asDouble(-1) >= 0;
      if (heard
          && other.path("state").asText().equals("UP")
          && !other.path("draining").asBoolean()) {
        open++;
      }
    }
    return open == others + 1;
  }

  private static double metric(String metrics, Pattern pattern) {
    Matcher matcher = pattern.matcher(metrics);
    return matcher.find() ? Double.parseDouble(matcher.group(1)) : 0;
  }

  /** Asks for one client to be sent to another bus. */
  void move(String client, String to) {
    String next = "/api/v1/connections?limit=1000";
    while (!next.isEmpty()) {
      JsonNode page = json(ask("GET", next));
      for (JsonNode connection : page.path("items")) {
        if (connection.path("client").asText().equals(client)) {
          accepted("PUT", "/api/v1/moves/" + connection.path("id").asText() + "?to=" + to);
          return;
        }
      }
      next = page.path("next").asText("");
    }
    throw new DriverException(client + " is not at " + bus);
  }

  /** Has the bus send all of its clients away, or take clients again. */
  void drain(boolean on) {
    accepted(on ? "PUT" : "DELETE", "/api/v1/drains/" + bus);
  }

  /** Has the bus store the events of topics from now on. */
  void createJournal(String name, String filter) {
    String filters = URLEncoder.encode(filter, StandardCharsets.UTF_8);
    answered(OK, "PUT", "/api/v1/journals/" + name + "?filters=" + filters);
  }

  private void accepted(String method, String path) {
    answered(ACCEPTED, method, path);
  }

  private void answered(int expected, String method, String path) {
    HttpResponse<String> answer = ask(method, path);
    if (answer.statusCode() != expected) {
      throw new DriverException(
          bus + ": " + method + " " + path + ": " + answer.statusCode() + " " + answer.body());
    }
  }

  private JsonNode json(HttpResponse<String> answer) {
    try {
      return JSON.readTree(answer.body());
    } catch (IOException e) {
      throw new DriverException(bus + " answered no JSON: " + answer.body(), e);
    }
  }

  private HttpResponse<String> ask(String method, String path) {
    try {
      return HTTP.send(
          HttpRequest.newBuilder(URI.create(address + path))
              .timeout(DEADLINE)
              .method(method, HttpRequest.BodyPublishers.noBody())
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new DriverException(bus + " does not answer at " + address, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while asking " + bus, e);
    }
  }
}
