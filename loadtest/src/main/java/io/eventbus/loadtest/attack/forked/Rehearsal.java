package io.eventbus.loadtest.attack.forked;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.loadtest.attack.wire.WireCounts;
import io.eventbus.loadtest.attack.wire.Wires;
import io.eventbus.schema.Welcome;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Connects a well-behaved client a few times before the attack, so that a fresh JVM has loaded and
 * compiled most of what an attack needs when its time begins to run.
 */
final class Rehearsal {
  private static final int CONNECTIONS = 60;
  private static final int AT_ONCE = 4;
  private static final int MAX_SECONDS = 5;

  private Rehearsal() {}

  static void play(BusAddress bus) throws InterruptedException {
    Semaphore free = new Semaphore(AT_ONCE);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
    try (Wires wires = new Wires(bus, 1, 0, new WireCounts())) {
      for (int i = 0; i < CONNECTIONS; i++) {
        if (!free.tryAcquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
          return;
        }
        wires.openHonest(Opening.client(bus), new Visitor(free));
      }
      // Those that are still there are ended with their loop.
      if (free.tryAcquire(AT_ONCE, 1, TimeUnit.SECONDS)) {
        free.release(AT_ONCE);
      }
    }
  }

  private record Visitor(Semaphore free) implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.end();
    }

    @Override
    public void closed(AttackWire wire, int code) {
      free.release();
    }
  }
}
