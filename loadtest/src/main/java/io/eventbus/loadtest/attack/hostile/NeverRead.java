package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Subscribers that never read, and a publisher of tiny events with many keys that never stops.
 *
 * @param messages how many until a pause of a second, 0 for no pause
 */
record NeverRead(
    String name,
    Overflow policy,
    long subscribers,
    long batch,
    long messageBytes,
    long messages,
    boolean colliding)
    implements Attack {
  private static final int PAUSE_MILLIS = 1_000;
  private static final String TOPIC = "unread";

  @Override
  public String what() {
    return subscribers
        + (subscribers == 1 ? " subscriber under " : " subscribers under ")
        + policy
        + " that never read tiny events"
        + (colliding ? ", whose keys collide" : "");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    long more = heapMegabytes < 1024 ? subscribers : subscribers * 6;
    return Map.of(
        "subs",
        messages == 0 ? subscribers : more,
        "batch",
        batch,
        "bytes",
        messageBytes,
        "times",
        messages == 0 || heapMegabytes < 1024 ? messages : messages + messages / 2);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int count = field.knob("subs");
    byte[] subscribe = ClientFrames.subscribe(1, TOPIC, policy);
    Swarm swarm =
        new Swarm(
            field,
            Opening.client(field.bus()).withReceiveBuffer(4096),
            count,
            i ->
                new HostileSubscriber(
                    field.tally(), List.of(subscribe), HostileSubscriber.NOTHING, false));
    ByteBuf message = message(field.knob("batch"), field.knob("bytes"), colliding);
    int times = field.knob("times");
    while (!field.over()) {
      swarm.fill();
      swarm.awaitWelcomed(count, PAUSE_MILLIS);
      field.sleep(times == 0 ? 0 : PAUSE_MILLIS / 2);
      HostileSender sender = HostileSender.connect(field);
      int sent = 0;
      while (sender != null
          && (times == 0 || sent < times)
          && sender.send(message.retainedDuplicate())) {
        sent++;
        field.tally().add("messages", 1);
      }
      field.sleep(PAUSE_MILLIS);
      if (sender != null) {
        sender.end();
      }
    }
  }

  /** Message full of frames, or with one frame that is as large. */
  private static ByteBuf message(int batch, int bytes, boolean colliding) {
    byte[] payload = new byte[1];
    List<byte[]> frames = new ArrayList<>();
    long sequence = 1;
    int size = 0;
    while (size == 0 || (size + frames.get(0).length < bytes && batch > 0)) {
      int events = batch > 0 ? batch : bytes / 10 - 8;
      byte[][] keys = new byte[events][];
      for (int i = 0; i < events; i++) {
        keys[i] = colliding ? collided(i) : distinct((int) sequence + i);
      }
      byte[] frame = ClientFrames.publish(TOPIC, sequence, false, keys, payload);
      frames.add(frame);
      size += frame.length;
      sequence += events;
    }
    return Octets.message(frames.toArray(byte[][]::new));
  }

  private static byte[] distinct(int n) {
    return ByteBuffer.allocate(4).putInt(printable(n)).array();
  }

  /** A key for each number up to 2^12; "Aa" and "BB" have the same hash code. */
  private static byte[] collided(int n) {
    StringBuilder key = new StringBuilder();
    for (int bit = 0; bit < 12; bit++) {
      key.append((n >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return key.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Spreads a number over four octets of seven bits, so that a key is UTF-8. */
  private static int printable(int n) {
    return (n & 0x7F) | (n >> 7 & 0x7F) << 8 | (n >> 14 & 0x7F) << 16 | (n >> 21 & 0x7F) << 24;
  }
}
