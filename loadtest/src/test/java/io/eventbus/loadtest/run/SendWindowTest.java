package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class SendWindowTest {
  private final ManualTicker ticker = new ManualTicker(0, 0);
  private final long[] sent = new long[2];
  private final EventReceiver first = receiver(0);
  private final EventReceiver second = receiver(0, 1);
  private final PublishingPass pass = new PublishingPass(0, 0);

  private EventReceiver receiver(int... topics) {
    BitSet set = new BitSet();
    for (int topic : topics) {
      set.set(topic);
    }
    return new EventReceiver(ticker, 0, new MeasuredSpan(), 16, 1, set, 0, 3);
  }

  private void send(SendWindow window, int topic, EventReceiver... to) {
    byte[] payload = new byte[16];
    EventMark.write(payload, 0, topic, ++sent[topic], 0);
    window.sent();
    for (EventReceiver receiver : to) {
      receiver.onEvent(ByteBuffer.wrap(payload));
    }
  }

  @Test
  void letsAsManyThroughAsTheWindowHolds() throws Exception {
    SendWindow window = new SendWindow(ticker, 0, 3, sent, List.of(first, second));
    for (int i = 0; i < 3; i++) {
      assertThat(window.await(pass)).isTrue();
      send(window, 0);
    }
    assertThatThrownBy(() -> window.await(pass))
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("none of 3 events in flight was received for 10 s");
  }

  @Test
  void anEventIsInFlightUntilEveryoneHasIt() throws Exception {
    SendWindow window = new SendWindow(ticker, 0, 2, sent, List.of(first, second));
    send(window, 0, first);
    send(window, 1, second);
    // Only one of the two is acknowledged: the second topic's, which only one subscriber gets.
    assertThat(window.await(pass)).isTrue();
    send(window, 0, first);
    assertThatThrownBy(() -> window.await(pass)).isInstanceOf(StalledException.class);
    EventReceiver late = second;
    byte[] payload = new byte[16];
    EventMark.write(payload, 0, 0, 1, 0);
    late.onEvent(ByteBuffer.wrap(payload));
    assertThat(window.await(pass)).isTrue();
  }

  @Test
  void whatNobodyGetsIsNotWaitedFor() throws Exception {
    SendWindow window = new SendWindow(ticker, 0, 1, sent, List.of(first));
    for (int i = 0; i < 10; i++) {
      assertThat(window.await(pass)).isTrue();
      send(window, 1);
    }
  }

  @Test
  void anotherLostEventDoesNotHoldUpTheRest() throws Exception {
    SendWindow window = new SendWindow(ticker, 0, 2, sent, List.of(first));
    send(window, 0);
    send(window, 0, first);
    assertThat(window.await(pass)).isTrue();
    assertThat(first.integrity(new long[][] {sent})).isEqualTo(new Integrity(1, 0, 0, 0));
  }

  @Test
  void theEndOfThePassEndsTheWait() throws Exception {
    SendWindow window = new SendWindow(ticker, 0, 1, sent, List.of(first));
    send(window, 0);
    pass.stop();
    assertThat(window.await(pass)).isFalse();
  }
}
