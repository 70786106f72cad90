package io.eventbus.conformance.run;

import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.wire.WireConnection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** State of one connection of the client; guarded by the stage's lock. */
final class TesteeWire {
  final WireConnection connection;
  final String bus;
  final int number;
  final Map<String, String> headers;
  final List<KitFrame> frames = new ArrayList<>();
  // Publish frames that wait for their confirmation: topic and last sequence.
  final List<Unconfirmed> unconfirmed = new ArrayList<>();
  // Frames that a step has taken out of order.
  final Set<KitFrame> taken = Collections.newSetFromMap(new IdentityHashMap<>());
  int next;
  int largest;
  // Pings or Echos, and Pongs, that no step has taken.
  private int pings;
  private int pongs;
  int closeCode;
  String closeReason = "";
  boolean ended;
  boolean claimed;
  boolean welcomed;

  /** A frame that waits for its confirmation. */
  record Unconfirmed(String topic, long last) {}

  TesteeWire(WireConnection connection, int number, Map<String, String> headers) {
    this.connection = connection;
    this.bus = connection.bus().name();
    this.number = number;
    this.headers = headers;
  }

  void count(String kind) {
    if (kind.equals("Ping")) {
      pings++;
    } else {
      pongs++;
    }
  }

  boolean take(String kind) {
    return kind.equals("Ping") ? pings > 0 && pings-- > 0 : pongs > 0 && pongs-- > 0;
  }

  @Override
  public String toString() {
    return "connection " + number + " at " + bus;
  }
}
