package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/** Subscribes to everything and unsubscribes, without end: no route is remembered for long. */
record SubscribeChurn() implements Attack {
  private static final int CHUNK = 16 * 1024;

  @Override
  public String name() {
    return "subscribe-churn";
  }

  @Override
  public String what() {
    return "connections that subscribe to > and unsubscribe in a loop";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 4L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf chunk =
        Octets.repeated(
            Octets.message(
                ClientFrames.subscribe(1, ">", Overflow.DROP_OLDEST), ClientFrames.unsubscribe(1)),
            CHUNK);
    new Swarm(field, Opening.client(field.bus()), field.knob("conns"), i -> Flood.of(chunk, false))
        .hold();
  }
}
