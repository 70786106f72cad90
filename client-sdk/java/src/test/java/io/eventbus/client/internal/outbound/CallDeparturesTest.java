package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.CallFrame;
import io.eventbus.client.internal.call.CallPath;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CallDeparturesTest {
  private static final int BATCH = 1024;

  private final FakeBus bus = new FakeBus();
  private final SendQueue queue = new SendQueue(BATCH);
  private final CallDepartures calls = new CallDepartures();
  private final Transport.Channel channel = channel();

  private Transport.Channel channel() {
    bus.silent = true;
    bus.connect(
        java.net.URI.create("ws://one/bus"),
        java.time.Duration.ofSeconds(1),
        new Transport.Listener() {
          @Override
          public void onOpen(Transport.Channel opened) {}

          @Override
          public void onFailed(Throwable failure) {}

          @Override
          public void onMessage(ByteBuffer message) {}

          @Override
          public void onPong() {}

          @Override
          public void onClosed(int code, String reason) {}
        });
    return bus.connection();
  }

  /** Frame of that many bytes with this value. */
  static final class Frame implements CallFrame {
    private final @Nullable CallPath path;
    private final int bytes;
    private final byte value;
    private boolean needed = true;

    Frame(@Nullable CallPath path, int bytes, int value) {
      this.path = path;
      this.bytes = bytes;
      this.value = (byte) value;
    }

    @Override
    public @Nullable CallPath path() {
      return path;
    }

    @Override
    public int cost() {
      return bytes;
    }

    @Override
    public int size(long nowNanos) {
      return needed ? bytes : 0;
    }

    @Override
    public boolean write(ByteBuffer out, CallPath over) {
      for (int i = 0; i < bytes; i++) {
        out.put(value);
      }
      return true;
    }
  }

  private Frame add(@Nullable CallPath path, int bytes, int value) {
    Frame frame = new Frame(path, bytes, value);
    calls.add(frame, 0);
    return frame;
  }

  /** Describes the next message: which values it has, and how often each. */
  private String next() {
    ByteBuffer message = calls.next(channel, queue, 0);
    if (message == null) {
      return "none";
    }
    StringBuilder runs = new StringBuilder();
    int from = 0;
    for (int i = 1; i <= message.limit(); i++) {
      if (i == message.limit() || message.get(i) != message.get(from)) {
        runs.append(runs.isEmpty() ? "" : " ")
            .append(i - from)
            .append('x')
            .append(message.get(from));
        from = i;
      }
    }
    return runs.toString();
  }

  @Test
  void answersGoBeforeRequestsAndManyGoTogether() {
    add(null, 100, 1);
    add(channel, 200, 2);
    add(null, 300, 3);
    assertThat(next()).isEqualTo("200x2 100x1 300x3");
    assertThat(next()).isEqualTo("none");
  }

  @Test
  void aMessageEndsWhereTheNextFrameDoesNotFitAndABigOneGoesAlone() {
    add(null, 1000, 1);
    add(null, 100, 2);
    add(null, 5000, 3);
    add(null, 10, 4);
    assertThat(next()).isEqualTo("1000x1");
    assertThat(next()).isEqualTo("100x2");
    assertThat(next()).isEqualTo("5000x3");
    assertThat(next()).isEqualTo("10x4");
  }

  @Test
  void skipsObsoleteFrames() {
    add(null, 10, 1).needed = false;
    add(null, 10, 2);
    assertThat(next()).isEqualTo("10x2");
    add(null, 10, 3).needed = false;
    assertThat(next()).isEqualTo("none");
  }

  @Test
  void requestsWaitWhileTheClientLeavesABus() {
    calls.holdRequests();
    add(null, 10, 1);
    add(channel, 10, 2);
    assertThat(next()).isEqualTo("10x2");
    assertThat(next()).isEqualTo("none");
    calls.goOn();
    assertThat(next()).isEqualTo("10x1");
  }

  @Test
  void answersThatWaitHoldTheirSourceBackUntilHalfOfThemAreGone() {
    int half = CallDepartures.MAX_ANSWER_BYTES / 2;
    add(channel, half, 1);
    assertThat(calls.hasRoom()).isTrue();
    add(channel, half, 2);
    assertThat(calls.hasRoom()).isFalse();
    assertThat(calls.takeRoom()).isFalse();
    assertThat(next()).isEqualTo(half + "x1");
    assertThat(calls.hasRoom()).isTrue();
    assertThat(calls.takeRoom()).isTrue();
    assertThat(calls.takeRoom()).as("told once").isFalse();
  }

  @Test
  void withoutAConnectionNothingWaits() {
    add(null, 10, 1);
    add(channel, CallDepartures.MAX_ANSWER_BYTES, 2);
    calls.clear();
    assertThat(calls.hasRoom()).isTrue();
    assertThat(next()).isEqualTo("none");
  }

  @Test
  void answersOfTheConnectionBeforeAreTakenOut() {
    Frame answer = add(channel, 10, 1);
    add(null, 10, 2);
    assertThat(calls.takeAnswers()).isEqualTo(List.of(answer));
    assertThat(next()).isEqualTo("10x2");
  }

  @Test
  void cancelledRequestsDoNotPileUp() {
    long before = calls.waiting();
    for (int i = 0; i < 100_000; i++) {
      add(null, 10, 1).needed = false;
    }
    assertThat(calls.waiting() - before).isLessThan(3_000);
  }
}
