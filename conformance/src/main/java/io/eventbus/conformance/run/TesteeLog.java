package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.scenario.Mutant;
import io.eventbus.conformance.scenario.ScenarioFailure;
import io.eventbus.conformance.testee.Testee;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Requests to the testee and its output in one scenario; guarded by the stage's lock. */
final class TesteeLog {
  private final ConversationStage stage;
  private final Testee testee;
  private final Mutant.@Nullable Active mutant;
  private final List<ObjectNode> events = new ArrayList<>();
  private final BitSet taken = new BitSet();
  private final Map<Long, String> asked = new HashMap<>();
  private final Map<Long, ObjectNode> answers = new HashMap<>();
  private final Map<String, Set<String>> gapReporters = new HashMap<>();
  private long lastId;

  TesteeLog(ConversationStage stage, Testee testee, Mutant.@Nullable Active mutant) {
    this.stage = stage;
    this.testee = testee;
    this.mutant = mutant;
  }

  /** Lets the ids of this scenario begin behind those of earlier ones. */
  void startBehind(long id) {
    lastId = id;
  }

  long lastId() {
    return lastId;
  }

  List<ObjectNode> events() {
    return events;
  }

  /** Sends a request without waiting. */
  long ask(String op, @Nullable String on, ObjectNode args) {
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    stage.lock.lock();
    try {
      long id = ++lastId;
      request.put("id", id).put("op", op);
      if (on != null) {
        request.put("on", on);
      }
      if (!args.isEmpty()) {
        request.set("args", args);
      }
      asked.put(id, op);
      if (!op.equals("state") && !op.equals("counters")) {
        stage.transcript.add("kit   ", request);
      }
      // Under the lock, so that lines are sent in the order of their ids.
      testee.ask(request);
      return id;
    } finally {
      stage.lock.unlock();
    }
  }

  /** Records a line of the testee; any thread. */
  void onLine(ObjectNode line) {
    stage.lock.lock();
    try {
      if (!isPoll(line)) {
        stage.transcript.add("testee", line);
      }
      if (line.has("id")) {
        answered(line);
      } else if (line.has("event")) {
        addEvent(line);
      } else {
        stage.fault("the testee is broken: " + line.path("broken").asText(line.toString()));
      }
      stage.changed();
    } finally {
      stage.lock.unlock();
    }
  }

  /** Returns whether a line answers a poll; only the last answer is in the failure. */
  private boolean isPoll(ObjectNode line) {
    String op = line.has("id") ? asked.get(line.get("id").asLong()) : null;
    return "state".equals(op) || "counters".equals(op);
  }

  private void answered(ObjectNode line) {
    long id = line.get("id").asLong();
    String op = asked.get(id);
    if (op == null) {
      return;
    }
    if (line.has("broken")) {
      stage.fault("the testee is broken: " + op + ": " + line.get("broken").asText());
    } else if (line.has("unsupported")) {
      stage.fault(
          op
              + ": unsupported: "
              + line.get("unsupported").asText()
              + " (expected: hello does not declare what a scenario needs)");
    } else if (answers.containsKey(id)) {
      stage.fault("a second answer: " + line);
    } else if (!line.path("ok").isObject() && !line.path("error").path("code").isTextual()) {
      stage.fault("the testee is broken: an answer without ok and error.code: " + line);
    } else {
      for (ObjectNode seen : mutated("answer", line.put("op", op))) {
        answers.put(id, seen);
      }
    }
  }

  private void addEvent(ObjectNode line) {
    for (ObjectNode event : mutated(line.get("event").asText(), line)) {
      if (event.path("event").asText().equals("gap") && isRepeatedGap(event)) {
        taken.set(events.size());
      }
      events.add(event);
    }
  }

  private List<ObjectNode> mutated(String kind, ObjectNode line) {
    return mutant == null ? List.of(line) : mutant.apply(kind, line);
  }

  /**
   * Returns whether a gap was reported before, of another subscription, or once with and once
   * without one.
   */
  private boolean isRepeatedGap(ObjectNode gap) {
    String key = ConversationStage.without(gap, "subscription").toString();
    Set<String> reporters = gapReporters.computeIfAbsent(key, k -> new HashSet<>());
    return reporters.add(gap.path("subscription").asText("")) && reporters.size() > 1;
  }

  /** Returns the answer, or null; the caller holds the lock. */
  @Nullable ObjectNode answer(long id) {
    return answers.get(id);
  }

  ObjectNode awaitAnswer(long id, Duration within) throws ScenarioFailure {
    return stage.await(
        "an answer to request " + id + " (" + asked.get(id) + ")", within, () -> answers.get(id));
  }

  /** Sends a request of the kit itself, and waits for the answer. */
  ObjectNode call(String op, @Nullable String on, Duration within) throws ScenarioFailure {
    return awaitAnswer(ask(op, on, JsonNodeFactory.instance.objectNode()), within);
  }

  /** Takes the next event of its kind that no step has taken; the caller holds the lock. */
  @Nullable ObjectNode take(JsonNode wanted) {
    for (int i = taken.nextClearBit(0); i < events.size(); i = taken.nextClearBit(i + 1)) {
      ObjectNode event = events.get(i);
      if (isOfKind(wanted, event)) {
        taken.set(i);
        return event;
      }
    }
    return null;
  }

  private static boolean isOfKind(JsonNode wanted, ObjectNode event) {
    for (String member : List.of("event", "client", "subscription")) {
      boolean optional = member.equals("subscription") && !event.has(member);
      if (wanted.has(member)
          && !optional
          && !wanted.get(member).asText().equals(event.path(member).asText())) {
        return false;
      }
    }
    return true;
  }
}
