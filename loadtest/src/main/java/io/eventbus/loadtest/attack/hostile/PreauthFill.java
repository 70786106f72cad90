package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Map;

/** Very many connections that nobody has let in, each with most of the largest first message. */
record PreauthFill() implements Attack {
  private static final int SAID = 64 * 1024;
  private static final int SENT = SAID - 536;
  private static final int LOG_LINES_PER_SECOND = 20;

  @Override
  public String name() {
    return "preauth-fill";
  }

  @Override
  public String what() {
    return "connections with 65 KB of a first message that never ends, again when closed";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 4_000L * Math.max(1, heapMegabytes / 256));
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withToken("only-for-tests").withLogLinesPerSecond(LOG_LINES_PER_SECOND);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf part = Unpooled.directBuffer();
    Octets.head(part, Octets.FINAL | Octets.BINARY, SAID);
    part.writeZero(SENT);
    new Swarm(
            field,
            Opening.upgrade(field.bus(), ""),
            field.knob("conns"),
            i ->
                new AttackPeer() {
                  @Override
                  public void upgraded(AttackWire wire) {
                    wire.send(part.retainedDuplicate());
                  }
                })
        .hold();
  }
}
