package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Map;

/** Very many small unfinished messages that stay, beside a reader with much in its queue. */
record PartialHold() implements Attack {
  private static final int MIN_SECONDS = 25;
  private static final int SAID = 4_000_000;

  @Override
  public String name() {
    return "partial-hold";
  }

  @Override
  public String what() {
    return "2,046 connections hold 65 KB of an unfinished message each, beside a steady reader";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 2_046 * Math.max(1, heapMegabytes / 256), "bytes", 65_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf part = Unpooled.directBuffer();
    Octets.head(part, Octets.FINAL | Octets.BINARY, SAID);
    part.writeZero(field.knob("bytes"));
    SteadyReader reader = SteadyReader.begin(field);
    new Swarm(field, Opening.client(field.bus()), field.knob("conns"), i -> new Says(part)).hold();
    reader.judge();
  }
}
