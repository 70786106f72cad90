package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Barriers without end at one bus of two, each of which has to be asked for at the other. */
record BarrierFlood() implements Attack {
  @Override
  public String name() {
    return "barrier-flood";
  }

  @Override
  public String what() {
    return "20 connections that send barriers at one bus of two; the honest are at the same";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 20L, "churn", 0L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withNeighbour();
  }

  @Override
  public void run(Field field) throws InterruptedException {
    byte[] barrier = ClientFrames.barrier(1);
    if (field.knob("churn") > 0) {
      new Swarm(
              field,
              Opening.client(field.bus()),
              field.knob("churn"),
              i ->
                  new HostileServiceClient(
                      field.tally(),
                      LongStream.iterate(2, n -> n + 1)
                          .mapToObj(
                              n ->
                                  n % 2 == 0
                                      ? ClientFrames.subscribe(
                                          1, "churn." + i + "." + n % 1000, Overflow.DROP_OLDEST)
                                      : ClientFrames.unsubscribe(1))))
          .fill();
    }
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            i -> new HostileServiceClient(field.tally(), Stream.generate(() -> barrier)))
        .hold();
  }
}
