package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Requests to the administration port, opened again when closed. */
record AdminRequests(String name, String what, String request, long conns) implements Attack {
  private static final int POLL_MILLIS = 20;

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    AtomicInteger alive = new AtomicInteger();
    while (!field.over()) {
      while (alive.get() < field.knob("conns")) {
        alive.incrementAndGet();
        field.wires().openTcp(field.bus().adminPort(), new Asking(request, alive));
      }
      field.sleep(POLL_MILLIS);
    }
  }

  private record Asking(String request, AtomicInteger alive) implements AttackPeer {
    @Override
    public void connected(AttackWire wire) {
      wire.send(Unpooled.wrappedBuffer(request.getBytes(StandardCharsets.US_ASCII)));
    }

    @Override
    public void closed(AttackWire wire, int code) {
      alive.decrementAndGet();
    }
  }
}
