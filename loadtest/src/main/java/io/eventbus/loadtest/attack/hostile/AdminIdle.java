package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections to the administration port that say nothing, opened again when closed. */
record AdminIdle() implements Attack {
  private static final int POLL_MILLIS = 20;

  @Override
  public String name() {
    return "admin-idle";
  }

  @Override
  public String what() {
    return "256 silent connections to the administration port, while health is asked for";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 256L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    AtomicInteger alive = new AtomicInteger();
    while (!field.over()) {
      while (alive.get() < field.knob("conns")) {
        alive.incrementAndGet();
        field.wires().openTcp(field.bus().adminPort(), new Silent(alive));
      }
      field.sleep(POLL_MILLIS);
    }
  }

  private record Silent(AtomicInteger alive) implements AttackPeer {
    @Override
    public void closed(AttackWire wire, int code) {
      alive.decrementAndGet();
    }
  }
}
