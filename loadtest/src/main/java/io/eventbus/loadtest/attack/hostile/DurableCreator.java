package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Client that may manage journals of its account: requests to the administration port that create,
 * change, trim, purge and delete them in a loop, above its quota, and with names and filters that
 * are not its own or illegal.
 */
record DurableCreator() implements Attack {
  private static final int POLL_MILLIS = 5;
  private static final int QUOTA = 20;
  private static final int KINDS = 8;
  private static final int STATUS_AT = 9;
  private static final String PATH = "/api/v1/journals/";

  @Override
  public String name() {
    return "durable-creator";
  }

  @Override
  public String what() {
    return "requests of a client with the permission journal that change journals in a loop";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 64L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .withJournals("")
        .withAccounts(
            """
            allow journal mine.>
            [account hostile]
            quota journals = %d
            quota durable-bytes = 1MiB
            """
                .formatted(QUOTA))
        .withAdminToken("token-of-the-operators")
        .with("admin.account", "ops");
  }

  @Override
  public void run(Field field) throws InterruptedException {
    AtomicInteger alive = new AtomicInteger();
    int next = 0;
    while (!field.over()) {
      while (alive.get() < field.knob("conns")) {
        alive.incrementAndGet();
        field.wires().openTcp(field.bus().adminPort(), new Asks(field, request(next++), alive));
      }
      field.sleep(POLL_MILLIS);
    }
    long done = field.tally().get("status200");
    long above = field.tally().get("status409");
    long foreign = field.tally().get("status403");
    field.tally().check("some changes are done", done > 0, done + " of status 200");
    field.tally().check("what is above its quota is refused", above > 0, above + " of 409");
    field.tally().check("what others have is refused", foreign > 0, foreign + " of 403");
  }

  private static String request(int n) {
    int journal = n / KINDS % (2 * QUOTA);
    String one = PATH + "j" + journal;
    return switch (n % KINDS) {
      case 0, 1 -> "PUT " + one + "?filters=mine." + journal + ".%3E";
      case 2 -> "PUT " + one + "/definition?max-events=" + (1 + n);
      case 3 -> "PUT " + one + "/trim?up-to=1";
      case 4 -> "PUT " + one + "/purge?from=1&to=9223372036854775807";
      case 5 -> "DELETE " + one;
      case 6 -> "PUT " + PATH + "other?filters=honest.%3E";
      default -> "PUT " + PATH + "x%2Fy?filters=" + "*.".repeat(200) + "%3E";
    };
  }

  /** Request on a connection of its own. */
  private record Asks(Field field, String request, AtomicInteger alive) implements AttackPeer {
    @Override
    public void connected(AttackWire wire) {
      String text =
          request
              + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
              + field.bus().token()
              + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      wire.send(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    @Override
    public void octets(AttackWire wire, ByteBuf octets) {
      String answer = octets.toString(StandardCharsets.ISO_8859_1);
      if (answer.startsWith("HTTP/1.1 ")) {
        field.tally().add("status" + answer.substring(STATUS_AT, STATUS_AT + 3), 1);
      }
    }

    @Override
    public void closed(AttackWire wire, int code) {
      alive.decrementAndGet();
    }
  }
}
