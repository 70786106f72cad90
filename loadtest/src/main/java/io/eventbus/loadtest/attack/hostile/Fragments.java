package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.loadtest.attack.wire.Wires;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** No attack: a legal message of 4 MiB in very many small fragments. */
record Fragments() implements Attack {
  private static final String PATH = "/echo";
  private static final int MESSAGE = 4 * 1024 * 1024;
  private static final int MIN_SECONDS = 8;

  /** Not the beginning of any frame, so that what comes back is seen as a whole. */
  private static final byte OCTET = (byte) 0xFF;

  @Override
  public String name() {
    return "fragments";
  }

  @Override
  public String what() {
    return "4 MiB in fragments of 64 octets to the echo endpoint: they have to come back";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("octets", 64L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.with("diagnostics.echo-path", PATH).lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    BusAddress bus = field.bus();
    BusAddress echo = new BusAddress(bus.port(), PATH, bus.adminPort(), bus.tls(), bus.token());
    try (Wires wires = new Wires(echo, 1, 0, field.tally().wires())) {
      Echoed echoed = new Echoed(message(field.knob("octets")));
      wires.open(Opening.upgrade(echo, ""), echoed);
      String found = echoed.await(field.leftMillis());
      field.tally().check("the message comes back", found.equals(MESSAGE + " octets"), found);
    }
    field.untilOver();
  }

  private static ByteBuf message(int fragment) {
    byte[] part = new byte[fragment];
    Arrays.fill(part, OCTET);
    ByteBuf message = Unpooled.directBuffer(MESSAGE + MESSAGE / fragment * 8);
    for (int at = 0; at < MESSAGE; at += fragment) {
      Octets.head(message, at == 0 ? Octets.BINARY : Octets.CONTINUATION, fragment);
      message.writeBytes(part);
    }
    // A further, empty one: senders that do not know where a message ends write it so.
    Octets.head(message, Octets.FINAL | Octets.CONTINUATION, 0);
    return message;
  }

  /** Sends and waits for the same. */
  private static final class Echoed implements AttackPeer {
    private final ByteBuf message;
    private final CompletableFuture<String> found = new CompletableFuture<>();

    Echoed(ByteBuf message) {
      this.message = message;
    }

    String await(long millis) throws InterruptedException {
      try {
        return found.get(Math.max(1, millis), TimeUnit.MILLISECONDS);
      } catch (ExecutionException | TimeoutException e) {
        return "nothing in " + millis + " ms";
      }
    }

    @Override
    public void upgraded(AttackWire wire) {
      wire.send(message);
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer whole, int from, int to) {
      found.complete((to - from) + " octets");
    }

    @Override
    public void closed(AttackWire wire, int code) {
      found.complete("closed with " + code);
    }
  }
}
