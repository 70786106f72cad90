package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;

/** Very many subscribers of everything, who read: each event of the honest goes to all of them. */
record BigFanout() implements Attack {
  @Override
  public String name() {
    return "big-fanout";
  }

  @Override
  public String what() {
    return "3,000 subscribers of > that read";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("subs", 3_000L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    List<byte[]> subscribe = List.of(ClientFrames.subscribe(1, ">", Overflow.DROP_OLDEST));
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("subs"),
            i -> new HostileSubscriber(field.tally(), subscribe, HostileSubscriber.ALL, false))
        .hold();
  }
}
