package io.eventbus.client.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TunnelFrames;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Output of one end of a tunnel and input of the other one, with a bus between that passes on as
 * little of each limit as it likes, against the messages themselves.
 */
class TunnelFlowProperties {
  private static final CallPath PATH = new CallPath() {};

  @Property(tries = 200)
  void messagesArriveAsTheyWereSentHoweverTheyAreCut(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 8) int messages,
      @ForAll @IntRange(min = 4096, max = 50_000) int window) {
    Random random = new Random(seed);
    TunnelOptions options = TunnelOptions.DEFAULT.withWindow(window, window * 2);
    TunnelOutput output = new TunnelOutput(PATH, 7, 0, Integer.MAX_VALUE);
    TunnelInput input = new TunnelInput(options);
    List<byte[]> sent = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      byte[] message = new byte[random.nextInt(3) * random.nextInt(60_000)];
      random.nextBytes(message);
      sent.add(message);
      output.take(message);
    }
    output.close();
    List<byte[]> received = new ArrayList<>();
    ByteArrayOutputStream open = new ByteArrayOutputStream();
    long granted = window;
    long passed = 0;
    long acknowledged = 0;
    for (int steps = 0; !input.isAtEnd(); steps++) {
      assertThat(steps).as("steps, with seed %d", seed).isLessThan(1_000_000);
      switch (random.nextInt(3)) {
        case 0 -> {
          // The bus passes on part of it.
          passed = Math.min(granted, passed + 1 + random.nextInt(window));
          output.credit(passed, acknowledged);
        }
        case 1 -> carry(output, input, passed);
        default -> {
          TunnelInput.Part part = input.poll();
          if (part != null) {
            open.writeBytes(part.bytes());
            if (!part.more()) {
              received.add(open.toByteArray());
              open.reset();
            }
          }
          TunnelInput.Credit credit = input.takeCredit();
          if (credit != null) {
            assertThat(credit.limit()).isGreaterThan(granted);
            granted = credit.limit();
            acknowledged = credit.received();
          }
        }
      }
    }
    assertThat(received).usingElementComparator(java.util.Arrays::compare).isEqualTo(sent);
    assertThat(output.hasSentLast()).isTrue();
    // Bytes that the other end has acknowledged need not be sent again.
    long known = acknowledged;
    output.credit(passed, known);
    assertThat(output.kept()).allMatch(frame -> frame.end() > known);
  }

  private static void carry(TunnelOutput output, TunnelInput input, long limit) {
    int size = output.size(0);
    if (size == 0) {
      return;
    }
    ByteBuffer frame = ByteBuffer.allocate(size);
    assertThat(output.write(frame, PATH)).isTrue();
    assertThat(frame.hasRemaining()).isFalse();
    FrameCursor cursor = new FrameCursor().wrap(frame, 0, size);
    assertThat(cursor.next()).isTrue();
    DataView data = new DataView();
    data.read(frame, cursor.bodyStart(), cursor.bodyEnd());
    assertThat(data.call()).isEqualTo(7);
    assertThat(data.offset() + TunnelFrames.cost(data.payloadLength())).isLessThanOrEqualTo(limit);
    assertThat(input.add(data, frame)).isNull();
  }
}
