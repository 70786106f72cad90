package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** All filters that can be made of two tokens, and new topics that each of them selects. */
record LookupBomb() implements Attack {
  private static final int EACH_CONNECTION = 9_000;
  private static final int MIN_SECONDS = 15;
  private static final int SETTLE_MILLIS = 10_000;

  @Override
  public String name() {
    return "lookup-bomb";
  }

  @Override
  public String what() {
    return "2^15 filters over {a,*}, and messages of new topics that match all of them";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("bits", 15L, "each", 1_000L, "messages", 2L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int bits = field.knob("bits");
    int filters = 1 << bits;
    int conns = (filters + EACH_CONNECTION - 1) / EACH_CONNECTION;
    new Swarm(
            field,
            Opening.client(field.bus()),
            conns,
            i -> {
              List<byte[]> subscribes = new ArrayList<>();
              int last = Math.min(filters, (i + 1) * EACH_CONNECTION);
              for (int f = i * EACH_CONNECTION; f < last; f++) {
                subscribes.add(
                    ClientFrames.subscribe(f + 1L, filter(f, bits), Overflow.DROP_OLDEST));
              }
              return new HostileSubscriber(field.tally(), subscribes, HostileSubscriber.ALL, false);
            })
        .fill();
    long settled = System.nanoTime() + SETTLE_MILLIS * 1_000_000L;
    while (!field.over()
        && System.nanoTime() < settled
        && field.tally().get("subscribed") + field.tally().get("refused") < filters) {
      field.sleep(20);
    }
    HostileSender sender = HostileSender.connect(field);
    if (sender == null) {
      return;
    }
    int topic = 0;
    for (int message = 0; message < field.knob("messages"); message++) {
      List<byte[]> frames = new ArrayList<>();
      for (int i = 0; i < field.knob("each"); i++) {
        frames.add(
            ClientFrames.publish("a.".repeat(bits) + "n" + topic++, 1, false, 1, new byte[1]));
      }
      if (!sender.send(Octets.message(frames.toArray(byte[][]::new)))) {
        return;
      }
      field.tally().add("published", frames.size());
      field.sleep(500);
    }
    field.untilOver();
  }

  private static String filter(int number, int bits) {
    StringBuilder filter = new StringBuilder();
    for (int bit = 0; bit < bits; bit++) {
      filter.append((number >> bit & 1) == 0 ? "a." : "*.");
    }
    return filter.append('*').toString();
  }
}
