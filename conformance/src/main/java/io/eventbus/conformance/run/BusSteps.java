package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.scenario.ScenarioFailure;
import io.eventbus.conformance.wire.Upgrade;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Steps of the scripted bus: its actions and its expectations. */
final class BusSteps {
  /** Frames that may arrive between those of a script, at any time. */
  private static final Set<String> BETWEEN = Set.of("Credit", "Ack", "Echo", "Unknown");

  private final ConversationStage stage;
  private final ClientSteps client;
  private final Map<String, TesteeWire> named = new HashMap<>();
  private @Nullable TesteeWire current;

  BusSteps(ConversationStage stage, ClientSteps client) {
    this.stage = stage;
    this.client = client;
  }

  private TesteeWire claim(JsonNode step) throws ScenarioFailure {
    String bus = step.path("at").asText("A");
    TesteeWire wire =
        stage.await(
            "a connection to " + bus,
            client.within(step),
            () ->
                stage.wires.stream()
                    .filter(w -> !w.claimed && w.bus.equals(bus))
                    .findFirst()
                    .orElse(null));
    wire.claimed = true;
    current = wire;
    if (step.has("as")) {
      named.put(step.get("as").asText(), wire);
    }
    return wire;
  }

  private TesteeWire wire(JsonNode step) throws ScenarioFailure {
    if (step.has("via")) {
      TesteeWire wire = named.get(step.get("via").asText());
      if (wire == null) {
        throw new ScenarioFailure("via: the script has no connection " + step.get("via"));
      }
      return wire;
    }
    TesteeWire wire = current;
    return wire == null ? claim(step) : wire;
  }

  void expect(JsonNode step) throws ScenarioFailure {
    if (step.has("frame")) {
      frame(step);
    } else if (step.has("sometime")) {
      sometime(step.get("sometime"), wire(step), step);
    } else if (step.has("events")) {
      events(step);
    } else if (step.has("connection")) {
      TesteeWire wire = claim(step);
      named.put(step.get("connection").asText(), wire);
      if (step.has("upgrade")) {
        upgrade(step, wire);
      }
    } else if (step.has("refused")) {
      int count = step.get("refused").intValue();
      stage.await(
          count + " refused upgrades",
          client.within(step),
          () -> stage.upgradesRefused >= count ? true : null);
    } else if (step.has("closed")) {
      closed(step, wire(step));
    } else if (step.has("ended")) {
      TesteeWire wire = wire(step);
      stage.await("the end of " + wire, client.within(step), () -> wire.ended ? true : null);
    } else if (step.has("asks") || step.has("pong")) {
      TesteeWire wire = wire(step);
      String kind = step.has("asks") ? "Ping" : "Pong";
      stage.await(
          step.has("asks") ? "a Ping or an Echo" : "a Pong",
          client.within(step),
          () -> wire.take(kind) ? true : null);
    } else if (step.has("again")) {
      again(step, wire(step));
    } else if (step.has("credit")) {
      credit(step, wire(step));
    } else if (step.has("largest")) {
      TesteeWire wire = wire(step);
      if (wire.largest > step.get("largest").intValue()) {
        throw new ScenarioFailure(
            "a message of " + wire.largest + " bytes (expected: at most " + step.get("largest"));
      }
    } else {
      throw new ScenarioFailure("expect: " + step + " is no step");
    }
  }

  private void upgrade(JsonNode step, TesteeWire wire) throws ScenarioFailure {
    for (Map.Entry<String, JsonNode> header : step.get("upgrade").properties()) {
      String seen = wire.headers.get(header.getKey());
      if (!header.getValue().asText().equals(seen)) {
        throw new ScenarioFailure(
            header.getKey() + ": " + seen + " (expected: " + header.getValue() + ")");
      }
    }
  }

  private void closed(JsonNode step, TesteeWire wire) throws ScenarioFailure {
    stage.await(
        "a Close frame",
        client.within(step),
        () -> (wire.closeCode != 0 || wire.ended) ? true : null);
    JsonNode code = step.get("closed");
    if (!code.asText().equals("*") && code.intValue() != wire.closeCode) {
      throw new ScenarioFailure(
          "close code: "
              + (wire.closeCode == 0 ? "no Close frame" : wire.closeCode)
              + " "
              + wire.closeReason
              + " (expected: "
              + code
              + ")");
    }
  }

  /**
   * Expects a Subscribe behind the Unsubscribe of this connection, or on a later connection, which
   * is the current one from here on.
   */
  private void again(JsonNode step, TesteeWire wire) throws ScenarioFailure {
    current =
        stage.await(
            "a Subscribe behind the Unsubscribe on " + wire + ", or on a later connection",
            client.within(step),
            () -> subscribedAgain(step.get("again"), wire));
  }

  private @Nullable TesteeWire subscribedAgain(JsonNode wanted, TesteeWire from) {
    for (TesteeWire wire : stage.wires) {
      boolean counts = !wire.claimed;
      for (KitFrame frame : wire.frames) {
        counts |= wire == from && frame.name().equals("Unsubscribe");
        if (counts
            && frame.name().equals("Subscribe")
            && stage.variables.mismatch(wanted, frame.record()) == null) {
          return wire;
        }
      }
    }
    return null;
  }

  /** Checks the greatest limit that the client has granted on a connection. */
  private void credit(JsonNode step, TesteeWire wire) throws ScenarioFailure {
    JsonNode wanted = step.get("credit");
    if (wanted.has("least")) {
      stage.await(
          "a Credit of at least " + wanted.get("least"),
          client.within(step),
          () -> limit(wire, wanted) >= wanted.get("least").longValue() ? true : null);
    }
    if (wanted.has("most")) {
      stage.lock.lock();
      try {
        if (limit(wire, wanted) > wanted.get("most").longValue()) {
          throw new ScenarioFailure(
              "a Credit of "
                  + limit(wire, wanted)
                  + " (expected: at most "
                  + wanted.get("most")
                  + ")");
        }
      } finally {
        stage.lock.unlock();
      }
    }
  }

  private long limit(TesteeWire wire, JsonNode wanted) {
    JsonNode consumer = stage.variables.fill(wanted.path("consumer"));
    return wire.frames.stream()
        .filter(frame -> frame.name().equals("Credit"))
        .filter(frame -> frame.record().get("consumer").asLong() == consumer.asLong())
        .mapToLong(frame -> frame.record().get("limit").asLong())
        .max()
        .orElse(0);
  }

  private void frame(JsonNode step) throws ScenarioFailure {
    String name = step.get("frame").asText();
    boolean hello = name.equals("Hello") && !step.has("via");
    TesteeWire wire = hello ? claim(step) : wire(step);
    KitFrame frame = next(wire, name, step);
    String found =
        stage.variables.mismatch(
            ConversationStage.without(step, "frame", "at", "as", "via", "within"), frame.record());
    if (found != null) {
      throw new ScenarioFailure(name + ": " + found);
    }
  }

  /** Expects a frame at any place among the others. */
  private void sometime(JsonNode wanted, TesteeWire wire, JsonNode step) throws ScenarioFailure {
    String name = wanted.get("frame").asText();
    JsonNode fields = ConversationStage.without(wanted, "frame");
    stage.await(
        wanted + " on " + wire,
        client.within(step),
        () -> {
          for (KitFrame frame : wire.frames.subList(wire.next, wire.frames.size())) {
            if (frame.name().equals(name)
                && stage.variables.mismatch(fields, frame.record()) == null
                && wire.taken.add(frame)) {
              return true;
            }
          }
          return null;
        });
  }

  /** Takes the next frame that the bus does not answer by itself, which must have this name. */
  private KitFrame next(TesteeWire wire, String name, JsonNode step) throws ScenarioFailure {
    KitFrame frame =
        stage.await(
            name + " on " + wire,
            client.within(step),
            () -> {
              while (wire.next < wire.frames.size()) {
                KitFrame one = wire.frames.get(wire.next);
                if (!wire.taken.contains(one) && (one.name().equals(name) || !isBetween(one))) {
                  return one;
                }
                wire.next++;
              }
              return wire.ended ? new KitFrame(-1, "the end of the connection", empty()) : null;
            });
    if (!frame.name().equals(name)) {
      throw new ScenarioFailure(frame + " (expected: " + name + " on " + wire + ")");
    }
    wire.next++;
    return frame;
  }

  private static ObjectNode empty() {
    return JsonNodeFactory.instance.objectNode();
  }

  private boolean isBetween(KitFrame frame) {
    return BETWEEN.contains(frame.name()) || stage.isAuto(frame.name());
  }

  /** Expects events in any number of frames, but in order and without gaps. */
  private void events(JsonNode step) throws ScenarioFailure {
    JsonNode wanted = step.get("events");
    Range range = Range.of(wanted.get("sequences"));
    TesteeWire wire = wire(step);
    long expected = range.first();
    int index = 0;
    while (expected <= range.last()) {
      KitFrame frame = next(wire, "Publish", step);
      JsonNode record = frame.record();
      String found =
          stage.variables.mismatch(ConversationStage.without(wanted, "sequences", "texts"), record);
      long sequence = record.get("sequence").asLong();
      if (found == null && sequence != expected) {
        found = "sequence: " + sequence + " (expected: " + expected + ")";
      }
      for (JsonNode event : record.get("events")) {
        if (found == null && wanted.has("texts")) {
          JsonNode text = wanted.get("texts").get(index++);
          found =
              stage.variables.mismatch(empty().set("text", text == null ? empty() : text), event);
        }
      }
      expected += record.get("events").size();
      if (found == null && expected > range.last() + 1) {
        found = "events up to " + (expected - 1) + " (expected: up to " + range.last() + ")";
      }
      if (found != null) {
        throw new ScenarioFailure("Publish: " + found);
      }
    }
  }

  void bus(JsonNode step) throws ScenarioFailure {
    String at = step.path("at").asText("A");
    if (step.has("refuse")) {
      refuse(at, step);
      return;
    } else if (step.has("down")) {
      stage.lock.lock();
      try {
        boolean changed = step.get("down").asBoolean() ? stage.down.add(at) : stage.down.remove(at);
        stage.transcript.add(at, (changed ? "" : "still ") + "down: " + step.get("down"));
      } finally {
        stage.lock.unlock();
      }
      return;
    }
    TesteeWire wire = wire(step);
    stage.lock.lock();
    try {
      stage.transcript.add("bus   ", step);
      act(wire, step);
    } finally {
      stage.lock.unlock();
    }
  }

  private void act(TesteeWire wire, JsonNode step) throws ScenarioFailure {
    if (step.has("frame") || step.has("frames")) {
      JsonNode frames = step.has("frames") ? step.get("frames") : step;
      wire.welcomed |=
          step.findValues("frame").stream().anyMatch(f -> f.asText().equals("Welcome"));
      byte[] message =
          BusFrames.message(
              stage.variables.fill(
                  step.has("frames")
                      ? frames
                      : ConversationStage.without(step, "via", "at", "split")));
      if (step.has("split")) {
        wire.connection.sendInTwo(message, step.get("split").intValue());
      } else {
        wire.connection.send(message);
      }
    } else if (step.has("hex")) {
      wire.connection.send(BusFrames.message(step));
    } else if (step.has("confirm")) {
      AutoBus.confirmAll(wire, step.path("positions").asLong());
    } else if (step.has("cut")) {
      wire.connection.cut();
    } else if (step.has("close")) {
      wire.connection.close(step.get("close").intValue(), step.path("reason").asText());
    } else if (step.has("ping")) {
      wire.connection.ping();
    } else if (step.has("textMessage")) {
      wire.connection.sendText(step.get("textMessage").asText());
    } else if (step.has("silent")) {
      wire.connection.fallSilent();
    } else if (step.has("reading")) {
      wire.connection.read(step.get("reading").asBoolean());
    } else {
      throw new ScenarioFailure("bus: " + step + " is no step");
    }
  }

  private void refuse(String at, JsonNode step) throws ScenarioFailure {
    JsonNode answer = step.get("refuse");
    Map<String, String> headers = new HashMap<>();
    answer
        .path("headers")
        .properties()
        .forEach(h -> headers.put(h.getKey(), h.getValue().asText()));
    stage.lock.lock();
    try {
      Deque<Upgrade> answers = stage.upgrades.get(at);
      if (answers == null) {
        throw new ScenarioFailure("at: no bus " + at);
      }
      for (int i = 0; i < answer.path("times").asInt(1); i++) {
        answers.add(
            new Upgrade(
                answer.path("status").asInt(),
                headers,
                answer.path("body").asText(),
                answer.path("subprotocol").asText()));
      }
    } finally {
      stage.lock.unlock();
    }
  }
}
