package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** As many connections as the bus takes, each of which calls services of long names, and stays. */
record CalledNames() implements Attack {
  private static final int MIN_SECONDS = 25;
  private static final int NAME = 240;
  private static final int NAMES = 16;
  private static final int WAIT_MILLIS = 600_000;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "called-names";
  }

  @Override
  public String what() {
    return "16,000 connections, each of which calls 16 services with names of 240 octets that"
        + " nobody serves, and waits for a further one";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 16_000L * Math.max(1, heapMegabytes / 256));
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    List<byte[]> requests = new ArrayList<>();
    Set<Integer> places = new HashSet<>();
    for (int n = 0; requests.size() < NAMES; n++) {
      String name = n + "x".repeat(NAME - String.valueOf(n).length());
      if (places.add(place(name))) {
        requests.add(ClientCalls.request(requests.size() + 1L, name, 1_000, 0, NOTHING));
      }
    }
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            i ->
                new HostileServiceClient(
                    field.tally(),
                    Stream.concat(
                        requests.stream(),
                        Stream.of(
                            ClientCalls.request(
                                NAMES + 1L, "waits." + i, WAIT_MILLIS, WAIT_MILLIS, NOTHING)))))
        .hold();
  }

  /** Returns the place where a connection remembers a name: each place holds one. */
  private static int place(String name) {
    int hash = 1;
    for (byte b : name.getBytes(StandardCharsets.US_ASCII)) {
      hash = 31 * hash + b;
    }
    return (hash ^ hash >>> 16) & (NAMES - 1);
  }
}
