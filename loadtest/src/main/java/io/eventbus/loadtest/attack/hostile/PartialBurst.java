package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/** Many connections send all but the last octet of the largest message at once. */
record PartialBurst() implements Attack {
  private static final int MIN_SECONDS = 10;
  private static final int EVENTS = 5;
  private static final int PAYLOAD = 838_000;

  @Override
  public String name() {
    return "partial-burst";
  }

  @Override
  public String what() {
    return "connections that each send an unfinished message of 4 MiB, again when closed";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", Math.max(250, 250 + (heapMegabytes - 256) * 550 / 768));
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf message =
        Octets.message(ClientFrames.publish("partial", 1, false, EVENTS, new byte[PAYLOAD]));
    message.writerIndex(message.writerIndex() - 1);
    new Swarm(field, Opening.client(field.bus()), field.knob("conns"), i -> new Says(message))
        .hold();
  }
}
