package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/**
 * Connections that send small things without end and read the answers.
 *
 * @param early before {@code Hello}, which then never comes
 */
record FrameFlood(String name, Kind kind, long conns, boolean early) implements Attack {
  private static final int CHUNK = 64 * 1024;
  private static final int MESSAGE = 60 * 1024;
  private static final byte UNKNOWN_TYPE = 0x78;

  /** Frames that can be sent. */
  enum Kind {
    /** Pings without a payload. */
    PING,
    /** Sixteen pings for each write to the socket, as many as the bus answers in one turn. */
    PING_16,
    /** Pongs that nobody asked for. */
    PONG,
    /** Empty messages. */
    EMPTY,
    /** Frames of a type that does not exist, many in a message. */
    UNKNOWN,
    /** Events without a payload for a topic that nobody hears, many in a message. */
    TINY
  }

  @Override
  public String what() {
    String thing =
        switch (kind) {
          case PING -> "pings";
          case PING_16 -> "sixteen pings at a time";
          case PONG -> "pongs";
          case EMPTY -> "empty messages";
          case UNKNOWN -> "frames of an unknown type";
          case TINY -> "smallest events for a topic nobody hears";
        };
    return conns + " connections that send " + thing + (early ? " before Hello" : "");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf chunk = chunk();
    Opening opening = early ? Opening.upgrade(field.bus(), "") : Opening.client(field.bus());
    new Swarm(field, opening, field.knob("conns"), i -> Flood.of(chunk, early)).hold();
  }

  private ByteBuf chunk() {
    return switch (kind) {
      case PING -> Octets.repeated(Octets.frame(Octets.FINAL | Octets.PING), CHUNK);
      case PING_16 -> {
        ByteBuf ping = Octets.frame(Octets.FINAL | Octets.PING);
        int octets = 16 * ping.readableBytes();
        yield Octets.repeated(ping, octets);
      }
      case PONG -> Octets.repeated(Octets.frame(Octets.FINAL | Octets.PONG), CHUNK);
      case EMPTY -> Octets.repeated(Octets.message(), CHUNK);
      case UNKNOWN -> Octets.message(filled(new byte[] {UNKNOWN_TYPE, 0}));
      case TINY -> Octets.message(filled(ClientFrames.publish("t", 1, false, 1, new byte[0])));
    };
  }

  private static byte[] filled(byte[] frame) {
    byte[] all = new byte[MESSAGE / frame.length * frame.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = frame[i % frame.length];
    }
    return all;
  }
}
