package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.scenario.ScenarioFailure;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Steps with requests to the testee, and with expectations of its output. */
final class ClientSteps {
  private static final String[] OWN = {
    "op", "on", "as", "sub", "text", "times", "ok", "error", "within", "size"
  };

  private final ConversationStage stage;
  // Ids of requests by their names in the script.
  private final Map<String, List<Long>> requests = new HashMap<>();

  ClientSteps(ConversationStage stage) {
    this.stage = stage;
  }

  Duration within(JsonNode step) {
    return step.has("within") ? Duration.ofMillis(step.get("within").asLong()) : stage.within;
  }

  /** Sends a request, once or several times; waits for the answers if the step has expectations. */
  void client(JsonNode step) throws ScenarioFailure {
    String op = step.path("op").asText();
    ObjectNode args = arguments(op, step);
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < step.path("times").asInt(1); i++) {
      ids.add(stage.testee.ask(op, step.path("on").asText("c"), args));
    }
    requests.put(step.path("as").asText(op), ids);
    if (step.has("ok") || step.has("error")) {
      check(ids, step);
    }
  }

  private ObjectNode arguments(String op, JsonNode step) {
    ObjectNode args = (ObjectNode) stage.variables.fill(ConversationStage.without(step, OWN));
    if (op.equals("connect")) {
      ObjectNode options = JsonNodeFactory.instance.objectNode();
      if (!args.has("urls")) {
        options
            .putArray("urls")
            .add(stage.variables.fill(JsonNodeFactory.instance.textNode("${A}")));
      }
      // Short pauses by default; scenarios about back-off set their own.
      options.putObject("reconnect").put("initialDelay", 5).put("maxDelay", 50).put("jitter", 0);
      args = options.setAll(args);
    } else if (op.equals("sendTunnel")) {
      String text = step.path("text").asText("x").repeat(step.path("size").asInt(1));
      args.put("payload", text.getBytes(StandardCharsets.UTF_8));
      args.put("tunnel", step.path("sub").asText("t"));
    } else if (Set.of("readTunnel", "endTunnel", "resetTunnel").contains(op)) {
      args.put("tunnel", step.path("sub").asText("t"));
    } else if (Set.of("acceptTunnel", "refuseTunnel", "tunnel", "stream").contains(op)) {
      args.put("payload", step.path("text").asText("x").getBytes(StandardCharsets.UTF_8));
      args.put("as", step.path("sub").asText("t"));
    } else if (Set.of("publish", "send", "request", "gather", "broadcast", "reply").contains(op)) {
      String text = step.path("text").asText("x").repeat(step.path("size").asInt(1));
      args.put("payload", text.getBytes(StandardCharsets.UTF_8));
      if (op.equals("request")) {
        // The name for cancel.
        args.put("as", step.path("as").asText(op));
      }
    } else if (op.equals("serve")) {
      args.put("as", step.path("sub").asText("s"));
    } else if (op.equals("unserve")) {
      args.put("service", step.path("sub").asText("s"));
    } else if (op.equals("consume")) {
      args.put("as", step.path("sub").asText("s"));
    } else if (op.equals("subscribe")) {
      args.put("as", step.path("sub").asText("s"));
      if (!args.has("overflow")) {
        args.put("overflow", "DROP_OLDEST");
      }
    } else if (op.equals("unsubscribe") || op.equals("pause") || op.equals("resume")) {
      args.put("subscription", step.path("sub").asText("s"));
    }
    return args;
  }

  /** Expects answers to earlier requests. */
  void result(JsonNode step) throws ScenarioFailure {
    List<Long> ids = new ArrayList<>();
    JsonNode of = step.path("of");
    if (of.isArray()) {
      for (JsonNode name : of) {
        ids.addAll(ids(name.asText()));
      }
    } else {
      ids.addAll(ids(of.asText()));
    }
    if (step.has("open")) {
      checkOpen(ids);
    } else if (step.has("count")) {
      int count = step.get("count").intValue();
      stage.await(
          count + " answers to " + of,
          within(step),
          () ->
              ids.stream().filter(id -> stage.testee.answer(id) != null).count() >= count
                  ? true
                  : null);
    } else {
      check(ids, step);
    }
  }

  List<Long> ids(String name) throws ScenarioFailure {
    List<Long> ids = requests.get(name);
    if (ids == null) {
      throw new ScenarioFailure("result of " + name + ": the script has asked for no such thing");
    }
    return ids;
  }

  private void checkOpen(List<Long> ids) throws ScenarioFailure {
    stage.lock.lock();
    try {
      for (long id : ids) {
        ObjectNode answer = stage.testee.answer(id);
        if (answer != null) {
          throw new ScenarioFailure("answered already: " + answer + " (expected: not yet)");
        }
      }
    } finally {
      stage.lock.unlock();
    }
  }

  private void check(List<Long> ids, JsonNode step) throws ScenarioFailure {
    long sequence = 0;
    if (step.has("sequences")) {
      sequence = Range.of(step.get("sequences")).first();
    }
    for (long id : ids) {
      ObjectNode answer = stage.testee.awaitAnswer(id, within(step));
      String kind = step.has("error") ? "error" : "ok";
      if (!answer.has(kind)) {
        throw new ScenarioFailure(answer + " (expected: " + kind + " " + step.get(kind) + ")");
      }
      JsonNode wanted = step.get(kind);
      String found =
          wanted == null ? null : stage.variables.mismatch(error(wanted), answer.get(kind));
      if (found == null && step.has("sequences")) {
        long seen = answer.get("ok").path("sequence").asLong();
        found = seen == sequence ? null : "sequence: " + seen + " (expected: " + sequence + ")";
        sequence++;
      }
      if (found != null) {
        throw new ScenarioFailure("answer to " + answer.path("op").asText() + ": " + found);
      }
    }
  }

  /** Returns the pattern of an error from a code, or from several alternative ones. */
  private static JsonNode error(JsonNode wanted) {
    if (wanted.isTextual() || wanted.isArray()) {
      ObjectNode error = JsonNodeFactory.instance.objectNode();
      if (wanted.isArray()) {
        error.putObject("code").set("in", wanted);
      } else {
        error.set("code", wanted);
      }
      return error;
    }
    return wanted;
  }

  /** Expects events, each the next of its kind. */
  void expectEvent(JsonNode step) throws ScenarioFailure {
    if (step.isArray()) {
      for (JsonNode one : step) {
        expectEvent(one);
      }
      return;
    }
    JsonNode wanted = ConversationStage.without(step, "within", "times", "sequences");
    if (step.has("sequences")) {
      Range range = Range.of(step.get("sequences"));
      for (long sequence = range.first(); sequence <= range.last(); sequence++) {
        expectEvent(((ObjectNode) wanted.deepCopy()).put("sequence", sequence), within(step));
      }
      return;
    }
    for (int i = 0; i < step.path("times").asInt(1); i++) {
      expectEvent(wanted, within(step));
    }
  }

  private void expectEvent(JsonNode wanted, Duration within) throws ScenarioFailure {
    ObjectNode event = stage.await("event " + wanted, within, () -> stage.testee.take(wanted));
    String found = stage.variables.mismatch(wanted, event);
    if (found != null) {
      throw new ScenarioFailure(
          "event " + wanted.path("event").asText() + ": " + found + "; it was " + event);
    }
  }

  /** Polls the client's state or its counters until they are as expected. */
  void poll(String op, JsonNode step) throws ScenarioFailure {
    long end = System.nanoTime() + within(step).toNanos();
    while (true) {
      ObjectNode answer = stage.testee.call(op, step.path("on").asText("c"), within(step));
      String found = mismatch(step.path("is"), answer);
      if (found == null) {
        return;
      }
      if (System.nanoTime() - end > 0) {
        throw new ScenarioFailure(op + ": " + found);
      }
      // Polling, because nothing reports the change.
      java.util.concurrent.locks.LockSupport.parkNanos(5_000_000);
    }
  }

  private @Nullable String mismatch(JsonNode wanted, ObjectNode answer) {
    JsonNode full =
        wanted.isObject() ? wanted : JsonNodeFactory.instance.objectNode().set("state", wanted);
    return answer.has("ok") ? stage.variables.mismatch(full, answer.get("ok")) : answer.toString();
  }
}
