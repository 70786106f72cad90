package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.Deflater;

/** Messages of a few kilobytes that inflate to 4 MiB of legal frames. */
record Inflate(String name, long conns) implements Attack {
  private static final int EVENTS = 4;
  private static final int PAYLOAD = 1_040_000;
  private static final int DEFLATE_TAIL = 4;

  @Override
  public String what() {
    return conns + " connections that send 4 KB which inflate to 4 MiB";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.with("compression.enabled", "true").withLongSteps();
  }

  @Override
  public void run(Field field) throws InterruptedException {
    byte[] small = deflated(ClientFrames.publish("inflated", 1, false, EVENTS, new byte[PAYLOAD]));
    ByteBuf message = Octets.frame(Octets.FINAL | Octets.COMPRESSED | Octets.BINARY, small);
    Opening opening =
        Opening.client(field.bus())
            .withHeaders(field.bus(), "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    new Swarm(field, opening, field.knob("conns"), i -> Flood.of(message, false)).hold();
  }

  /** Deflates as RFC 7692 wants it: flushed, without the last four octets. */
  private static byte[] deflated(byte[] plain) {
    Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
    try {
      deflater.setInput(plain);
      byte[] out = new byte[plain.length];
      int length = deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
      return Arrays.copyOf(out, length - DEFLATE_TAIL);
    } finally {
      deflater.end();
    }
  }
}
