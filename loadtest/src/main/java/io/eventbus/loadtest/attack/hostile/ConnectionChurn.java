package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Connections that do next to nothing and are opened again. */
record ConnectionChurn(String name, Kind kind, long conns) implements Attack {
  private static final int DRIP_MILLIS = 500;

  /** Behaviour of a connection. */
  enum Kind {
    /** Asks for a page. */
    HTTP,
    /** Sends an upgrade, one octet at a time. */
    SLOWLORIS,
    /** Sends an upgrade of many tiny header lines that never ends. */
    HEADERS,
    /** Says hello, and goes when it is let in. */
    HELLO
  }

  @Override
  public String what() {
    return switch (kind) {
      case HTTP -> "plain HTTP requests, a connection for each";
      case SLOWLORIS -> conns + " upgrades that come one octet at a time";
      case HEADERS -> conns + " upgrades of 3,900 header lines that never end";
      case HELLO -> "connections that say hello and go";
    };
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Opening opening = kind == Kind.HELLO ? Opening.client(field.bus()) : Opening.tcp();
    new Swarm(
            field,
            opening,
            field.knob("conns"),
            i ->
                switch (kind) {
                  case HTTP -> new Asks();
                  case SLOWLORIS -> new Drips();
                  case HEADERS -> new Lines();
                  case HELLO -> new Goes();
                })
        .hold();
  }

  private static final class Asks implements AttackPeer {
    @Override
    public void connected(AttackWire wire) {
      wire.send(ascii("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    }
  }

  private static final class Goes implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.end();
    }
  }

  private static final class Drips implements AttackPeer {
    private static final String REQUEST = "GET /bus HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    private int at;

    @Override
    public void connected(AttackWire wire) {
      char next = at < REQUEST.length() ? REQUEST.charAt(at) : 'x';
      at++;
      wire.send(ascii(String.valueOf(next)));
      wire.after(DRIP_MILLIS, () -> connected(wire));
    }
  }

  private static final class Lines implements AttackPeer {
    private static final String REQUEST =
        "GET /bus HTTP/1.1\r\nHost: localhost\r\n" + "a:\r\n".repeat(3_900);

    @Override
    public void connected(AttackWire wire) {
      wire.send(ascii(REQUEST));
    }
  }

  private static ByteBuf ascii(String text) {
    return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
  }
}
