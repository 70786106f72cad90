package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;

/**
 * Subscriber of everything under BLOCK that hardly reads, and so stalls every publisher.
 *
 * @param permitted whether it may, as clients of the same machine may by default; a stranger comes
 *     through a proxy, which says so
 */
record BlockDrip(String name, long bytesPerSecond, boolean permitted) implements Attack {
  private static final int BULK = 20_000_000;

  /** An address for documents (RFC 5737), so that it is nobody's. */
  private static final String STRANGER = "Forwarded: for=192.0.2.1\r\n";

  private static final int MIN_SECONDS = 10;

  /** Several times as long as what it may hold publishers for. */
  private static final int PERMITTED_SECONDS = 30;

  @Override
  public String what() {
    return (permitted ? "a permitted subscriber" : "a stranger that would subscribe to")
        + (permitted ? " of" : "")
        + " > under BLOCK"
        + (permitted ? " that reads " : " and reads ")
        + bytesPerSecond
        + " B/s";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 1L, "drip", bytesPerSecond, "bulk", (long) BULK);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    Needs needs = Needs.NOTHING.withBulk(Math.toIntExact(knobs.getOrDefault("bulk", 0L)));
    return permitted
        ? needs.lasting(PERMITTED_SECONDS).withBlockHold()
        : needs
            .lasting(MIN_SECONDS)
            .with("listen.proxies", "127.0.0.0/8")
            .with("auth.anonymous", "everyone");
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Opening opening = Opening.client(field.bus());
    if (!permitted) {
      opening = opening.withHeaders(field.bus(), STRANGER);
    }
    Opening small = opening.withReceiveBuffer(64 * 1024);
    byte[] subscribe = ClientFrames.subscribe(1, ">", Overflow.BLOCK);
    int drip = field.knob("drip");
    new Swarm(
            field,
            small,
            field.knob("conns"),
            i -> new HostileSubscriber(field.tally(), List.of(subscribe), drip, false))
        .hold();
  }
}
