package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.scenario.Matcher;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** First tier: the testee gets every vector of the kinds that it supports. */
public final class VectorRounds {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<Scenario> ROUNDS =
      List.of(
          round("V01.decode", "decode", "decodes every frame of frames.json that a bus sends"),
          round(
              "V02.refuse", "decode", "refuses every frame of refused.json that a bus might send"),
          round("V03.encode", "encode", "encodes every record of frames.json that a client sends"),
          round("V04.topics", "topics", "knows legal topics from others, as in topics.json"),
          round("V05.filters", "topics", "knows legal filters from others, as in filters.json"),
          round("V06.matches", "topics", "knows what filters select, as in matches.json"),
          round(
              "V07.fingerprints", "fingerprint", "computes the fingerprints of fingerprints.json"));

  private final Seat seat;
  private final List<String> wrong = new ArrayList<>();

  private VectorRounds(Seat seat) {
    this.seat = seat;
  }

  private static Scenario round(String id, String needs, String says) {
    return new Scenario(
        id,
        "The library " + says,
        List.of(),
        List.of(needs),
        List.of(),
        0,
        List.of(),
        List.of(),
        List.of());
  }

  /** Returns the rounds. */
  public static List<Scenario> all() {
    return ROUNDS;
  }

  /** Plays a round. */
  public static Outcome play(Scenario round, Seat seat) {
    long start = System.nanoTime();
    VectorRounds rounds = new VectorRounds(seat);
    Verdict verdict = Verdict.PASSED;
    String message = "";
    try {
      if (!seat.capabilities().containsAll(round.needs())) {
        verdict = Verdict.LEFT_OUT;
        message = "needs " + String.join(", ", round.needs());
      } else {
        rounds.play(round.id());
      }
    } catch (ScenarioFailure e) {
      rounds.wrong.add(e.getMessage());
    }
    if (!rounds.wrong.isEmpty()) {
      verdict = Verdict.FAILED;
      message = rounds.wrong.size() + " wrong, the first: " + rounds.wrong.get(0);
    }
    return new Outcome(
        round, verdict, message, rounds.wrong, Duration.ofNanos(System.nanoTime() - start));
  }

  private void play(String id) throws ScenarioFailure {
    switch (id.substring(0, 3)) {
      case "V01" -> decode();
      case "V02" -> refuse();
      case "V03" -> encode();
      case "V04" -> judge("topics.json", "checkTopic", List.of("topic"), "legal");
      case "V05" -> judge("filters.json", "checkFilter", List.of("filter"), "legal");
      case "V06" -> judge("matches.json", "match", List.of("filter", "topic"), "matches");
      default -> judge("fingerprints.json", "fingerprint", List.of("schema"), "fingerprint");
    }
  }

  private static JsonNode vectors(String file) {
    try (InputStream in = VectorRounds.class.getResourceAsStream("/vectors/" + file)) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }

  /**
   * Returns the vectors for a library: not all libraries support calls and durable topics, and
   * libraries over Avro accept some bytes that others refuse.
   */
  private List<JsonNode> known(String file) throws ScenarioFailure {
    Set<String> capabilities = seat.capabilities();
    List<JsonNode> known = new ArrayList<>();
    for (JsonNode vector : vectors(file)) {
      if (Stream.of("services", "durable", "strict")
          .allMatch(name -> capabilities.contains(name) || !vector.path(name).asBoolean())) {
        known.add(vector);
      }
    }
    return known;
  }

  private static ObjectNode args() {
    return JsonNodeFactory.instance.objectNode();
  }

  private void decode() throws ScenarioFailure {
    for (JsonNode vector : known("frames.json")) {
      if (vector.get("from").asText().equals("client")) {
        continue;
      }
      JsonNode answer = seat.ask("decode", args().set("hex", vector.get("hex")));
      ObjectNode wanted = args();
      wanted.putArray("frames");
      for (JsonNode frame : vector.get("frames")) {
        wanted.withArray("frames").add(ConversationStage.without(frame, "name"));
      }
      if (!vector.path("wide").asBoolean() || !isRefused(answer)) {
        note(vector, new Matcher().mismatch(wanted, answer.get("ok")), answer);
      }
    }
  }

  private static boolean isRefused(JsonNode answer) {
    return answer.path("error").path("code").asText().equals("MALFORMED");
  }

  private void refuse() throws ScenarioFailure {
    for (JsonNode vector : known("refused.json")) {
      if (!vector.get("from").asText().equals("client")) {
        JsonNode answer = seat.ask("decode", args().set("hex", vector.get("hex")));
        note(
            vector,
            isRefused(answer) ? null : "taken (expected: " + vector.get("reason") + ")",
            answer);
      }
    }
  }

  private void encode() throws ScenarioFailure {
    for (JsonNode vector : known("frames.json")) {
      if (vector.get("from").asText().equals("bus")) {
        continue;
      }
      for (JsonNode frame : vector.get("frames")) {
        JsonNode answer = seat.ask("encode", (ObjectNode) ConversationStage.without(frame, "name"));
        note(vector, misencoded(frame, answer.path("ok").path("hex").asText()), answer);
      }
    }
  }

  private static @Nullable String misencoded(JsonNode frame, String hex) {
    try {
      List<KitFrame> again = KitFrame.read(HexFormat.of().parseHex(hex));
      return again.size() == 1
          ? new Matcher().mismatch(frame.get("record"), again.get(0).record())
          : again.size() + " frames (expected: 1)";
    } catch (RuntimeException e) {
      return hex + " cannot be read: " + e.getMessage();
    }
  }

  private void judge(String file, String op, List<String> members, String verdict)
      throws ScenarioFailure {
    for (JsonNode vector : vectors(file)) {
      ObjectNode args = args();
      members.forEach(member -> args.set(member, vector.get(member)));
      JsonNode answer = seat.ask(op, args);
      ObjectNode wanted = args().set(verdict, vector.get(verdict));
      note(vector, new Matcher().mismatch(wanted, answer.get("ok")), answer);
    }
  }

  private void note(JsonNode vector, @Nullable String found, JsonNode answer) {
    if (found != null) {
      wrong.add(
          vector.path("id").asText(vector.toString())
              + ": "
              + found
              + (answer.has("ok") ? "" : "; it answered " + answer));
    }
  }
}
