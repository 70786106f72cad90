package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.KitFrame;
import java.util.Set;

/** Automatic answers of a scripted bus, as far as the script wants them. */
final class AutoBus {
  private AutoBus() {}

  static void answer(TesteeWire wire, KitFrame frame, Set<String> auto) {
    if (!auto.contains(frame.name())) {
      return;
    }
    switch (frame.name()) {
      case "Hello" -> {
        wire.welcomed = true;
        send(wire, frame("Welcome").put("session", "s-" + wire.number));
      }
      case "Subscribe" -> send(wire, confirm(2, frame));
      case "Register" -> send(wire, confirm(20, frame));
      case "Consume" -> send(wire, confirm(16, frame).put("topic", "orders"));
      case "Settle" -> {
        if (frame.record().get("confirm").asBoolean()) {
          send(wire, confirm(18, frame).set("position", frame.record().get("upTo")));
        }
      }
      case "Unsubscribe", "Unregister" -> {
        send(wire, confirm(frame.typeCode(), frame));
        send(wire, frame("Drained").set("id", frame.record().get("id")));
      }
      case "Publish" -> confirmAll(wire, 0);
      case "Barrier", "Echo" -> send(wire, frame(frame.name()).set("id", frame.record().get("id")));
      default -> throw new IllegalStateException("auto: " + frame.name());
    }
  }

  /**
   * Confirms everything that waits for it.
   *
   * @param positions what the positions of events are ahead of their numbers; 0 for none
   */
  static void confirmAll(TesteeWire wire, long positions) {
    for (TesteeWire.Unconfirmed publish : wire.unconfirmed) {
      send(
          wire,
          frame("Confirm")
              .put("typeCode", 1)
              .put("about", publish.last())
              .put("position", positions == 0 ? 0 : positions + publish.last())
              .put("topic", publish.topic()));
    }
    wire.unconfirmed.clear();
  }

  private static ObjectNode confirm(int typeCode, KitFrame frame) {
    return frame("Confirm").put("typeCode", typeCode).set("about", frame.record().get("id"));
  }

  private static ObjectNode frame(String name) {
    return JsonNodeFactory.instance.objectNode().put("frame", name);
  }

  private static void send(TesteeWire wire, ObjectNode frame) {
    wire.connection.send(BusFrames.message(frame));
  }
}
