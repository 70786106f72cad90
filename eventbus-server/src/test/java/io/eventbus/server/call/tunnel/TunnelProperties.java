package io.eventbus.server.call.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TunnelFrames;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Tunnels between senders and receivers with random frames and credit: data arrives as it was sent,
 * and the waiting bytes are bounded.
 */
class TunnelProperties {
  private static final int BYTES = 30_000;

  /** Single direction of a tunnel, compared with an array of bytes. */
  private static final class Flow {
    final byte[] sent = new byte[BYTES];
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    final TunnelFixture.Connection from;
    final TunnelFixture.Connection to;
    final long fromCall;
    final long toCall;
    int at;
    long offset;
    long receivedOffset;
    boolean isLast;
    boolean hasLast;

    Flow(
        Random random,
        TunnelFixture.Connection from,
        TunnelFixture.Connection to,
        long fromCall,
        long toCall) {
      random.nextBytes(sent);
      this.from = from;
      this.to = to;
      this.fromCall = fromCall;
      this.toCall = toCall;
    }

    void send(Random random) {
      long left = from.limits.getOrDefault(fromCall, 0L) - offset - TunnelFrames.FRAME_COST;
      if (isLast || left < 0) {
        return;
      }
      int maximum = (int) Math.min(Math.min(left, BYTES - at), TunnelFrames.MAX_PAYLOAD);
      int length = random.nextInt(4) == 0 ? maximum : random.nextInt(Math.min(maximum, 500) + 1);
      isLast = at + length == BYTES;
      ByteBuffer payload = ByteBuffer.wrap(sent, at, length);
      boolean more = !isLast && random.nextBoolean();
      assertThat(from.data(fromCall, offset, more, isLast, payload))
          .isEqualTo(TunnelClient.Outcome.TAKEN);
      at += length;
      offset += TunnelFrames.cost(length);
    }

    void receive(ByteBuffer frame, DataView data) {
      assertThat(data.offset()).isEqualTo(receivedOffset);
      byte[] payload = new byte[data.payloadLength()];
      frame.get(data.payloadStart(), payload);
      received.writeBytes(payload);
      receivedOffset += TunnelFrames.cost(payload.length);
      hasLast = data.last();
      assertThat(received.toByteArray()).isEqualTo(Arrays.copyOf(sent, received.size()));
    }
  }

  @Property(tries = 60)
  void dataArrivesUnchangedAndWaitingBytesAreBounded(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 4) int tunnels,
      @ForAll @IntRange(min = 130, max = 100_000) int window) {
    Random random = new Random(seed);
    TunnelSettings settings = new TunnelSettings(4, 64 << 10, 32 << 10);
    TunnelFixture kit = new TunnelFixture(settings);
    TunnelFixture.Connection a = kit.connection();
    TunnelFixture.Connection b = kit.connection();
    Flow[] flows = new Flow[2 * tunnels];
    for (int i = 0; i < tunnels; i++) {
      long call = i + 1L;
      kit.open(a, b, call, window, window);
      flows[2 * i] = new Flow(random, a, b, call, -call);
      flows[2 * i + 1] = new Flow(random, b, a, -call, call);
    }
    boolean done = false;
    for (int steps = 0; !done; steps++) {
      assertThat(steps).as("steps, with seed " + seed).isLessThan(2_000_000);
      Flow flow = flows[random.nextInt(flows.length)];
      kit.shortOfMemory = random.nextInt(10) == 0;
      switch (random.nextInt(3)) {
        case 0 -> flow.send(random);
        case 1 -> {
          TunnelFixture.Connection at = random.nextBoolean() ? a : b;
          at.take(frame -> receive(flows, at, frame));
        }
        default -> {
          if (!flow.hasLast) {
            // A reader gives credit for the bytes that it has read, and the window.
            flow.to.tunnels.credit(flow.toCall, flow.receivedOffset + window, flow.receivedOffset);
          }
        }
      }
      assertThat(a.bytes).isLessThanOrEqualTo(settings.bulkBytes());
      assertThat(b.bytes).isLessThanOrEqualTo(settings.bulkBytes());
      done = Arrays.stream(flows).allMatch(f -> f.hasLast);
    }
    for (Flow flow : flows) {
      assertThat(flow.received.toByteArray()).isEqualTo(flow.sent);
    }
    assertThat(a.endings).isEmpty();
    assertThat(b.endings).isEmpty();
    assertThat(a.tunnels.size() + b.tunnels.size()).isZero();
    assertThat(a.tunnels.room().held() + b.tunnels.room().held()).isZero();
    assertThat(kit.stats.tunnels.get()).isZero();
    kit.deliveries.close();
    assertThat(kit.memory.used()).isZero();
  }

  private static void receive(Flow[] flows, TunnelFixture.Connection at, ByteBuffer frame) {
    FrameCursor cursor = new FrameCursor().wrap(frame, frame.position(), frame.limit());
    assertThat(cursor.next()).isTrue();
    DataView data = new DataView();
    data.read(frame, cursor.bodyStart(), cursor.bodyEnd());
    for (Flow flow : flows) {
      if (flow.to == at && flow.toCall == data.call()) {
        flow.receive(frame, data);
        return;
      }
    }
    throw new AssertionError("a foreign number: " + data.call());
  }
}
