package io.eventbus.loadtest.faults.buses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Answers of a bus to operators, as long as it gives any. Any thread. */
public final class BusAnswers {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration QUICK = Duration.ofSeconds(2);
  private static final Duration PATIENT = Duration.ofSeconds(60);

  /** Figures of a durable subscription that are 0 when nothing is left but dead letters. */
  private static final List<String> LEFT = List.of("lag", "inFlight", "waiting");

  private static final int OK = 200;
  private static final int ACCEPTED = 202;

  private final String name;
  private final URI address;
  private final String authorization;

  BusAnswers(String name, URI address, String token) {
    this.name = name;
    this.address = address;
    this.authorization = "Bearer " + token;
  }

  /** Returns whether it is ready for clients. */
  public boolean isReady() {
    return ask("GET", "/readyz", QUICK).isPresent();
  }

  /**
   * Has the bus store the events of topics from now on.
   *
   * @return whether it said that it does
   */
  public boolean createJournal(String name, String filter) {
    String filters = URLEncoder.encode(filter, StandardCharsets.UTF_8);
    return ask("PUT", "/api/v1/journals/" + name + "?filters=" + filters, PATIENT).isPresent();
  }

  /**
   * Has the bus move its clients to others, or take clients again.
   *
   * @return whether it said that it does
   */
  public boolean drain(boolean on) {
    return ask(on ? "PUT" : "DELETE", "/api/v1/drains/" + name, QUICK).isPresent();
  }

  /** Returns the name of the bus that leads the replicas, if one is known. */
  public Optional<String> leader() {
    return ask("GET", "/api/v1/shards", QUICK)
        .map(answer -> answer.path("items").path(0).path("leader").asText(""))
        .filter(leader -> !leader.isEmpty());
  }

  /**
   * Returns whether the journals have that many replicas, all of which vote and were heard of.
   *
   * @param lost replicas whose files are gone, which are none of them
   */
  boolean hasReplicas(int count, Set<String> lost) {
    return ask("GET", "/api/v1/shards", QUICK)
        .map(answer -> answer.path("items").path(0).path("members"))
        .filter(members -> members.size() == count)
        .filter(
            members ->
                StreamSupport.stream(members.spliterator(), false)
                    .allMatch(
                        member ->
                            member.path("voter").asBoolean()
                                && member.path("behind").asLong() >= 0
                                && !lost.contains(
                                    member.path("bus").asText()
                                        + "~"
                                        + member.path("generation").asText())))
        .isPresent();
  }

  /** Returns the last position of a journal. */
  public OptionalLong lastPosition(String journal) {
    return number(
        ask("GET", "/api/v1/journals/" + journal, QUICK)
            .map(answer -> answer.path("content").path("lastPosition")));
  }

  /** Returns the position up to which a durable subscription has settled everything. */
  public OptionalLong settled(String journal, String subscription) {
    return number(
        ask("GET", "/api/v1/journals/" + journal + "/cursors", QUICK)
            .map(answer -> find(answer.path("items"), subscription).path("settled")));
  }

  /**
   * Returns the dead letters of a shared durable subscription of which nothing else is left: empty
   * while something is not taken, in flight or waiting.
   */
  public Optional<List<DeadEvent>> drained(String journal, String subscription) {
    String path = "/api/v1/journals/" + journal;
    Optional<JsonNode> cursor =
        ask("GET", path + "/cursors", QUICK)
            .map(answer -> find(answer.path("items"), subscription))
            .filter(found -> LEFT.stream().allMatch(name -> found.path(name).asLong(-1) == 0));
    if (cursor.isEmpty()) {
      return Optional.empty();
    }
    List<DeadEvent> dead = new ArrayList<>();
    String next = path + "/dead?limit=1000&durable=" + subscription;
    while (!next.isEmpty()) {
      Optional<JsonNode> page = ask("GET", next, PATIENT);
      if (page.isEmpty()) {
        return Optional.empty();
      }
      page.get().path("items").forEach(item -> dead.add(DeadEvent.of(item)));
      next = page.get().path("next").asText("");
    }
    return Optional.of(dead).filter(all -> all.size() == cursor.get().path("dead").asLong());
  }

  /**
   * Dead letter.
   *
   * @param attempts deliveries without success
   * @param time when it died
   */
  public record DeadEvent(long position, int attempts, String reason, Instant time) {
    static DeadEvent of(JsonNode item) {
      return new DeadEvent(
          item.path("position").asLong(),
          item.path("attempts").asInt(),
          item.path("reason").asText(),
          Instant.parse(item.path("time").asText()));
    }
  }

  private static JsonNode find(JsonNode items, String name) {
    for (JsonNode item : items) {
      if (item.path("name").asText().equals(name)) {
        return item;
      }
    }
    return items.path(-1);
  }

  private static OptionalLong number(Optional<JsonNode> found) {
    return found.filter(JsonNode::isNumber).isPresent()
        ? OptionalLong.of(found.get().asLong())
        : OptionalLong.empty();
  }

  private Optional<JsonNode> ask(String method, String path, Duration deadline) {
    try {
      HttpResponse<String> answer =
          HTTP.send(
              HttpRequest.newBuilder(address.resolve(path))
                  .timeout(deadline)
                  .header("Authorization", authorization)
                  .method(method, HttpRequest.BodyPublishers.noBody())
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != OK && answer.statusCode() != ACCEPTED) {
        return Optional.empty();
      }
      @Nullable JsonNode tree = JSON.readTree(answer.body());
      return Optional.ofNullable(tree);
    } catch (IOException e) {
      // It does not answer, which is what this run is about.
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
