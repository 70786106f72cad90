package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

class EventReceiverTest {
  private static final long ORIGIN = 1_000;
  private final ManualTicker ticker = new ManualTicker(ORIGIN, 0);
  private final MeasuredSpan span = new MeasuredSpan();

  private EventReceiver receiver(int... topics) {
    BitSet set = new BitSet();
    for (int topic : topics) {
      set.set(topic);
    }
    return new EventReceiver(ticker, ORIGIN, span, 16, 2, set, 0, 3);
  }

  private static ByteBuffer event(int publisher, int topic, long number, long due) {
    byte[] payload = new byte[16];
    EventMark.write(payload, publisher, topic, number, due);
    return ByteBuffer.wrap(payload);
  }

  @Test
  void recordsTheTimeSinceTheEventWasDue() {
    EventReceiver receiver = receiver(0);
    span.open(100);
    ticker.advance(5_000_000);
    receiver.onEvent(event(0, 0, 1, 1_000_000));
    assertThat(receiver.latencies().getTotalCount()).isEqualTo(1);
    assertThat(receiver.latencies().getMaxValue()).isBetween(3_990_000L, 4_010_000L);
  }

  @Test
  void recordsOnlyWhatIsDueInTheMeasuredPart() {
    EventReceiver receiver = receiver(0);
    receiver.onEvent(event(0, 0, 1, 10));
    span.open(100);
    receiver.onEvent(event(0, 0, 2, 99));
    receiver.onEvent(event(0, 0, 3, 100));
    receiver.onEvent(event(0, 0, 4, 0));
    span.close(200);
    receiver.onEvent(event(0, 0, 5, 199));
    receiver.onEvent(event(0, 0, 6, 200));
    assertThat(receiver.latencies().getTotalCount()).isEqualTo(2);
    assertThat(receiver.received()).isEqualTo(6);
  }

  @Test
  void tellsStreamsApart() {
    EventReceiver receiver = receiver(1, 4);
    receiver.onEvent(event(0, 1, 1, 0));
    receiver.onEvent(event(1, 1, 1, 0));
    receiver.onEvent(event(0, 4, 1, 0));
    receiver.onEvent(event(0, 4, 2, 0));
    assertThat(receiver.highest(0, 4)).isEqualTo(2);
    assertThat(receiver.highest(1, 1)).isEqualTo(1);
    assertThat(receiver.highest(1, 4)).isZero();
    long[][] sent = {{0, 1, 9, 9, 2}, {0, 1, 0, 0, 0}};
    assertThat(receiver.caughtUp(sent)).isTrue();
    assertThat(receiver.integrity(sent)).isEqualTo(Integrity.WHOLE);
  }

  @Test
  void whatIsMissingAtTheEndIsLost() {
    EventReceiver receiver = receiver(0);
    receiver.onEvent(event(0, 0, 1, 0));
    long[][] sent = {{4}, {2}};
    assertThat(receiver.caughtUp(sent)).isFalse();
    assertThat(receiver.integrity(sent)).isEqualTo(new Integrity(5, 0, 0, 0));
  }

  @Test
  void countsWhatIsNotItsOwn() {
    EventReceiver receiver = receiver(1);
    receiver.onEvent(event(0, 0, 1, 0)); // a topic that it did not ask for
    receiver.onEvent(event(0, 2, 1, 0)); // a topic beyond
    receiver.onEvent(event(2, 1, 1, 0)); // no such publisher
    receiver.onEvent(ByteBuffer.allocate(15)); // another length
    assertThat(receiver.integrity(new long[2][2])).isEqualTo(new Integrity(0, 0, 0, 4));
    assertThat(receiver.received()).isZero();
  }

  @Test
  void aSlowSubscriberTakesItsTime() {
    BitSet topics = new BitSet();
    topics.set(0);
    EventReceiver receiver = new EventReceiver(ticker, ORIGIN, span, 16, 1, topics, 1_000, 3);
    receiver.onEvent(event(0, 0, 1, 0));
    assertThat(ticker.nanoTime()).isEqualTo(ORIGIN + 1_000);
  }
}
