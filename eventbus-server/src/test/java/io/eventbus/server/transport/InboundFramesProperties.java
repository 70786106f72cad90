package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.transport.websocket.Opcode;
import io.eventbus.server.transport.websocket.PermessageDeflate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * For any cuts of messages into frames and of bytes into reads, and any waits of the handler: the
 * same messages are handled, each byte once and in order.
 */
class InboundFramesProperties {
  /** Handles what it likes of each message and then waits. */
  private static final class Whimsical extends InboundOnly {
    final List<byte[]> messages = new ArrayList<>();
    final List<Boolean> texts = new ArrayList<>();
    @Nullable Runnable waiting;
    private final Random random;
    private final int delayedCalls;
    private final ByteBuf current = Unpooled.buffer();

    /**
     * Creates a handler.
     *
     * @param delayedCalls number of calls of which a random one has to wait; 0 for none
     */
    Whimsical(Random random, int delayedCalls) {
      this.random = random;
      this.delayedCalls = delayedCalls;
    }

    @Override
    public boolean acceptsText() {
      return true;
    }

    @Override
    public int onMessage(
        ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
      assertThat(waiting).as("nothing is handled while it waits").isNull();
      int upTo = to;
      if (from < to && delayedCalls > 0 && random.nextInt(delayedCalls) == 0) {
        upTo = from + random.nextInt(to - from);
        waiting = retry;
      }
      current.writeBytes(message.duplicate().position(from).limit(upTo));
      if (upTo == to) {
        byte[] whole = new byte[current.readableBytes()];
        current.readBytes(whole);
        current.clear();
        messages.add(whole);
        texts.add(text);
      }
      return upTo;
    }

    boolean resume() {
      Runnable retry = waiting;
      waiting = null;
      if (retry == null) {
        return false;
      }
      retry.run();
      return true;
    }
  }

  private final List<byte[]> sent = new ArrayList<>();
  private final List<Boolean> sentTexts = new ArrayList<>();
  private final List<byte[]> pings = new ArrayList<>();

  /** Creates random messages in random frames with pings in between. */
  private byte[] stream(Random random, @Nullable PermessageDeflate deflate, Wire wire) {
    ClientBytes client = new ClientBytes();
    int messages = random.nextInt(12);
    for (int m = 0; m < messages; m++) {
      boolean text = random.nextBoolean();
      byte[] payload = payload(random, text);
      sent.add(payload);
      sentTexts.add(text);
      byte[] onTheWire = payload;
      int rsv = 0;
      if (deflate != null && random.nextBoolean()) {
        ByteBuf small = deflate.deflate(wire.allocator, ByteBuffer.wrap(payload));
        onTheWire = io.netty.buffer.ByteBufUtil.getBytes(small);
        small.release();
        rsv = ClientBytes.RSV1;
      }
      int fragments = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 1;
      int at = 0;
      for (int f = 0; f < fragments; f++) {
        boolean last = f == fragments - 1;
        int end = last ? onTheWire.length : at + random.nextInt(onTheWire.length - at + 1);
        int opcode = f > 0 ? Opcode.CONTINUATION : text ? Opcode.TEXT : Opcode.BINARY;
        int first = (last ? ClientBytes.FIN : 0) | (f == 0 ? rsv : 0) | opcode;
        client.frame(first, Arrays.copyOfRange(onTheWire, at, end), random.nextInt());
        at = end;
        if (random.nextInt(4) == 0) {
          byte[] ping = new byte[random.nextInt(126)];
          random.nextBytes(ping);
          pings.add(ping);
          client.frame(ClientBytes.FIN | Opcode.PING, ping, random.nextInt());
        }
        if (random.nextInt(8) == 0) {
          client.frame(ClientBytes.FIN | Opcode.PONG, new byte[3], random.nextInt());
        }
      }
    }
    return client.array();
  }

  private static byte[] payload(Random random, boolean text) {
    int size =
        switch (random.nextInt(6)) {
          case 0 -> 0;
          case 1 -> 65_536 + random.nextInt(10_000);
          case 2 -> 120 + random.nextInt(12);
          default -> random.nextInt(300);
        };
    byte[] payload = new byte[size];
    random.nextBytes(payload);
    return text ? bytesOfText(payload) : payload;
  }

  private static byte[] bytesOfText(byte[] any) {
    StringBuilder text = new StringBuilder();
    for (byte b : any) {
      text.appendCodePoint((b & 0xFF) * (b % 3 == 0 ? 1 : b % 3 == 1 ? 37 : 1999));
    }
    String legal = text.toString().replaceAll("[\\ud800-\\udfff]", "?");
    return legal.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  @Property(tries = 400)
  void anyCutGivesTheSameMessages(
      @ForAll long seed, @ForAll boolean waits, @ForAll boolean compression) {
    sent.clear();
    sentTexts.clear();
    pings.clear();
    Random random = new Random(seed);
    Wire wire = new Wire("compression.enabled", String.valueOf(compression));
    Whimsical handler = new Whimsical(random, waits ? 2 : 0);
    wire.connect(compression, c -> handler);
    PermessageDeflate deflate = compression ? new PermessageDeflate(1) : null;
    byte[] stream = stream(random, deflate, wire);

    List<Object> answers = new ArrayList<>();
    int at = 0;
    int largest = new int[] {1, 7, 400, 100_000}[random.nextInt(4)];
    if (stream.length > 20_000) {
      largest = Math.max(largest, 400);
    }
    while (at < stream.length) {
      int n = Math.min(stream.length - at, 1 + random.nextInt(largest));
      wire.read(Arrays.copyOfRange(stream, at, at + n));
      at += n;
      assertThat(wire.isReading()).as("reads unless it waits").isEqualTo(handler.waiting == null);
      // The socket may bring a little more although reading was stopped, but it must not be needed.
      while (handler.waiting != null && (n > 1_000 || random.nextInt(3) > 0)) {
        handler.resume();
        wire.run();
      }
      answers.addAll(wire.written());
    }
    while (handler.resume()) {
      wire.run();
    }
    answers.addAll(wire.written());

    assertThat(handler.messages).usingElementComparator(Arrays::compare).isEqualTo(sent);
    assertThat(handler.texts).isEqualTo(sentTexts);
    assertThat(wire.isReading()).isTrue();
    assertThat(wire.stats.messagesIn.get()).isEqualTo(sent.size());
    assertThat(wire.stats.bytesIn.get()).isEqualTo(stream.length);
    // The last of several pings that came together is answered.
    int asked = -1;
    for (Object answer : answers) {
      Wire.Message pong = (Wire.Message) answer;
      assertThat(pong.opcode()).isEqualTo(Opcode.PONG);
      do {
        asked++;
        assertThat(asked).as("answers in the order of the pings").isLessThan(pings.size());
      } while (!pong.payload().equals(ByteBuffer.wrap(pings.get(asked))));
    }
    assertThat(asked).as("the last ping").isEqualTo(pings.size() - 1);
    assertThat(wire.memory.used()).as("nothing kept after the last message").isZero();
    if (deflate != null) {
      deflate.close();
    }
    wire.assertNothingHeld();
    wire.loop.close();
  }

  @Property(tries = 200)
  void anEndAtAnyPointLeavesNothingBehind(@ForAll long seed, @ForAll boolean waits) {
    sent.clear();
    sentTexts.clear();
    pings.clear();
    Random random = new Random(seed);
    Wire wire = new Wire();
    Whimsical handler = new Whimsical(random, waits ? 2 : 0);
    wire.connect(false, c -> handler);
    byte[] stream = stream(random, null, wire);
    int cut = stream.length == 0 ? 0 : random.nextInt(stream.length);
    int half = cut / 2;
    wire.read(Arrays.copyOf(stream, half));
    wire.read(Arrays.copyOfRange(stream, half, cut));
    assertThat(wire.connection().heldBytes())
        .as("what is held is seen by whoever looks for the biggest")
        .isEqualTo(wire.memory.used());
    wire.hangUp();
    handler.resume();
    wire.run();
    wire.assertNothingHeld();
  }
}
