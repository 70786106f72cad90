package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.scenario.Matcher;
import io.eventbus.conformance.scenario.Mutant;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFailure;
import io.eventbus.conformance.testee.Testee;
import io.eventbus.conformance.wire.ScriptedBus;
import io.eventbus.conformance.wire.Upgrade;
import io.eventbus.conformance.wire.WireConnection;
import io.eventbus.conformance.wire.WireListener;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * State of a scenario: its buses, the client's traffic on them, and the testee's output. I/O
 * threads write, the thread of the script reads and waits; all under one lock.
 */
final class ConversationStage implements WireListener, AutoCloseable {
  private static final int FIRST_MESSAGE = 64 * 1024;

  final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  final Matcher variables = new Matcher();
  final Transcript transcript = new Transcript();
  final TesteeLog testee;
  final List<TesteeWire> wires = new ArrayList<>();
  final Map<String, Deque<Upgrade>> upgrades = new HashMap<>();
  final Set<String> down = new HashSet<>();
  final Duration within;
  private final Map<String, ScriptedBus> buses = new HashMap<>();
  private final Map<String, Map<String, String>> upgrading = new HashMap<>();
  private final Mutant.@Nullable Active mutant;
  private Set<String> auto;
  private @Nullable String fault;
  private int connections;

  ConversationStage(
      Scenario scenario, Testee testee, Duration within, Mutant.@Nullable Active mutant) {
    this.within = within;
    this.mutant = mutant;
    this.auto = Set.copyOf(scenario.auto());
    variables.set("KEY4096", "k".repeat(4096));
    variables.set("KEY4097", "k".repeat(4097));
    this.testee = new TesteeLog(this, testee, mutant);
  }

  void open(EventLoopGroup loops, List<String> names) {
    for (String name : names) {
      ScriptedBus bus = ScriptedBus.open(name, loops, this);
      buses.put(name, bus);
      variables.set(name, bus.url());
      upgrades.put(name, new ArrayDeque<>());
    }
  }

  /** Waits until the probe returns a value; the probe is called under the lock. */
  <T> T await(String what, Duration time, Supplier<@Nullable T> probe) throws ScenarioFailure {
    lock.lock();
    try {
      long left = time.toNanos();
      while (true) {
        if (fault != null) {
          throw new ScenarioFailure(fault);
        }
        T found = probe.get();
        if (found != null) {
          return found;
        }
        if (left <= 0) {
          throw new ScenarioFailure(
              "nothing within " + time.toMillis() + " ms (expected: " + what + ")");
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ScenarioFailure("interrupted while waiting for " + what);
    } finally {
      lock.unlock();
    }
  }

  /** Wakes the waiting thread; the caller holds the lock. */
  void changed() {
    changed.signalAll();
  }

  /** Records a fault that no library may have; the caller holds the lock. */
  void fault(String what) {
    if (fault == null) {
      fault = what;
    }
    changed.signalAll();
  }

  void auto(Set<String> frames) {
    lock.lock();
    try {
      auto = Set.copyOf(frames);
    } finally {
      lock.unlock();
    }
  }

  List<String> lines() {
    lock.lock();
    try {
      return transcript.lines();
    } finally {
      lock.unlock();
    }
  }

  boolean isAuto(String frame) {
    return auto.contains(frame);
  }

  @Override
  public Upgrade upgrading(ScriptedBus bus, Map<String, String> headers) {
    lock.lock();
    try {
      transcript.add("client", "asks " + bus.name() + " to upgrade");
      Deque<Upgrade> answers = upgrades.get(bus.name());
      Upgrade answer = answers == null ? null : answers.poll();
      if (answer == null) {
        answer = down.contains(bus.name()) ? Upgrade.DROP : Upgrade.ACCEPT;
      }
      if (answer.status() != 101) {
        transcript.add(bus.name(), answer);
        upgradesRefused++;
      } else {
        upgrading.put(bus.name(), headers);
      }
      changed();
      return answer;
    } finally {
      lock.unlock();
    }
  }

  int upgradesRefused;

  @Override
  public void opened(WireConnection connection) {
    lock.lock();
    try {
      Map<String, String> headers = upgrading.getOrDefault(connection.bus().name(), Map.of());
      wires.add(new TesteeWire(connection, ++connections, headers));
      changed();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable TesteeWire wire(WireConnection connection) {
    for (TesteeWire wire : wires) {
      if (wire.connection == connection) {
        return wire;
      }
    }
    return null;
  }

  @Override
  public void message(WireConnection connection, byte[] message) {
    lock.lock();
    try {
      TesteeWire wire = wire(connection);
      if (wire == null) {
        return;
      }
      wire.largest = Math.max(wire.largest, message.length);
      checkFirst(wire, message);
      for (KitFrame frame : KitFrame.read(message)) {
        for (KitFrame seen : mutated(frame)) {
          take(wire, seen);
        }
      }
      changed();
    } catch (MalformedFrameException e) {
      fault("the client sent bytes that a bus refuses: " + e.getMessage());
    } finally {
      lock.unlock();
    }
  }

  /** Checks the first message as a bus does. */
  private void checkFirst(TesteeWire wire, byte[] message) {
    if (!wire.frames.isEmpty()) {
      return;
    }
    if (message.length > FIRST_MESSAGE) {
      fault(wire + ": a first message of " + message.length + " bytes (expected: at most 64 KiB)");
    }
    long taken = System.nanoTime() - wire.connection.acceptedAt();
    if (taken > TimeUnit.SECONDS.toNanos(5)) {
      fault(
          wire
              + ": Hello after "
              + taken / 1_000_000
              + " ms (expected: within 5 s of the TCP"
              + " connection)");
    }
  }

  private List<ObjectNode> changedBy(String kind, ObjectNode what) {
    return mutant == null ? List.of(what) : mutant.apply(kind, what);
  }

  private List<KitFrame> mutated(KitFrame frame) {
    return changedBy(frame.name(), frame.record()).stream()
        .map(record -> new KitFrame(frame.typeCode(), frame.name(), record))
        .toList();
  }

  private void take(TesteeWire wire, KitFrame frame) {
    transcript.add("client", wire + ": " + frame);
    if (wire.frames.isEmpty() != frame.name().equals("Hello")) {
      fault(wire + ": " + frame.name() + " (expected: Hello first, and once)");
    }
    TypeCode type = TypeCode.of(frame.typeCode());
    if (type != null && !FrameTypes.fromClient(type)) {
      fault(wire + ": " + frame + " (expected: no frame that only a bus may send)");
    }
    if (frame.name().equals("Publish")
        && !wire.welcomed
        && !wire.frames.isEmpty()
        && wire.frames.get(0).record().path("resume").isNull()) {
      fault(wire + ": " + frame + " (expected: not before Welcome, without a resume)");
    }
    wire.frames.add(frame);
    if (frame.name().equals("Publish") && frame.record().get("confirm").asBoolean()) {
      long last = frame.record().get("sequence").asLong() + frame.record().get("events").size() - 1;
      wire.unconfirmed.add(new TesteeWire.Unconfirmed(frame.record().get("topic").asText(), last));
    } else if (frame.name().equals("Echo")) {
      wire.count("Ping");
    }
    AutoBus.answer(wire, frame, auto);
  }

  @Override
  public void other(WireConnection connection, String kind) {
    lock.lock();
    try {
      TesteeWire wire = wire(connection);
      if (wire == null) {
        return;
      }
      transcript.add("client", wire + ": " + kind);
      if (!changedBy(kind, JsonNodeFactory.instance.objectNode()).isEmpty()) {
        wire.count(kind);
      }
      if (!kind.equals("Ping") && !kind.equals("Pong")) {
        fault(wire + ": a " + kind + " (expected: binary messages)");
      }
      changed();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void closing(WireConnection connection, int code, String reason) {
    lock.lock();
    try {
      TesteeWire wire = wire(connection);
      if (wire != null) {
        transcript.add("client", wire + ": Close " + code + " " + reason);
        ObjectNode close = JsonNodeFactory.instance.objectNode().put("code", code);
        for (ObjectNode seen : changedBy("closing", close)) {
          wire.closeCode = seen.get("code").intValue();
          wire.closeReason = reason;
        }
        changed();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void ended(WireConnection connection) {
    lock.lock();
    try {
      TesteeWire wire = wire(connection);
      if (wire != null) {
        transcript.add("client", wire + " has ended");
        wire.ended = true;
        changed();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Checks that a reset has left nothing of the client. */
  void checkAllEnded() throws ScenarioFailure {
    await(
        "all connections ended after reset",
        Duration.ofNanos(Math.max(within.toNanos(), TimeUnit.SECONDS.toNanos(5))),
        () -> wires.stream().allMatch(wire -> wire.ended) ? true : null);
  }

  void checkNever(List<JsonNode> nevers) throws ScenarioFailure {
    lock.lock();
    try {
      if (fault != null) {
        throw new ScenarioFailure(fault);
      }
      for (JsonNode never : nevers) {
        String found = find(never);
        if (found != null) {
          throw new ScenarioFailure(found + " (expected: never " + never + ")");
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private @Nullable String find(JsonNode never) {
    for (TesteeWire wire : wires) {
      for (KitFrame frame : wire.frames) {
        if (never.path("frame").asText().equals(frame.name())
            && variables.mismatch(without(never, "frame"), frame.record()) == null) {
          return wire + ": " + frame;
        }
      }
    }
    if (never.has("event")) {
      for (ObjectNode event : testee.events()) {
        if (variables.mismatch(never, event) == null) {
          return event.toString();
        }
      }
    }
    if (never.has("connections") && connections >= never.get("connections").intValue()) {
      return connections + " connections";
    }
    return null;
  }

  static JsonNode without(JsonNode object, String... members) {
    ObjectNode rest = object.deepCopy();
    rest.remove(List.of(members));
    return rest;
  }

  @Override
  public void close() {
    buses.values().forEach(ScriptedBus::close);
    lock.lock();
    try {
      wires.stream().filter(wire -> !wire.ended).forEach(wire -> wire.connection.cut());
    } finally {
      lock.unlock();
    }
  }
}
