package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.Event;
import io.eventbus.client.SendResult;
import io.eventbus.client.WhenFull;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that send, and events that share a message; nothing here runs but this thread. */
@Timeout(180)
class SenderTest {
  private static final Duration ALONE = Duration.ofNanos(50_000);

  private final FakeClock clock = new FakeClock();
  private final Deque<Runnable> threads = new ArrayDeque<>();
  private final List<Integer> sent = new ArrayList<>();
  private final Deque<Transport.SendCallback> underWay = new ArrayDeque<>();
  private final EventEncoder encoder = new EventEncoder(clock, 1 << 20);
  private final Outbox outbox =
      new Outbox(
          new ClientOptions.Outbound(
              1 << 20, WhenFull.FAIL, Duration.ZERO, 64 * 1024, Duration.ofSeconds(1)),
          clock);
  private final Sender sender =
      new Sender(outbox, clock, Duration.ofSeconds(10).toNanos(), threads::add);
  private boolean networkIsFast = true;
  private Duration sendTakes = Duration.ZERO;

  SenderTest() {
    outbox.onWork(sender::wake, sender::wakeForEvent);
    FakeChannel channel = new FakeChannel();
    outbox.connected(channel);
    sender.use(channel);
    runThreads();
  }

  private final class FakeChannel implements Transport.Channel {
    @Override
    public void send(ByteBuffer message, Transport.SendCallback callback) {
      sent.add(message.remaining());
      clock.advance(sendTakes);
      if (networkIsFast) {
        callback.onSent(null);
      } else {
        underWay.add(callback);
      }
    }

    @Override
    public void ping() {}

    @Override
    public void acceptMessages(int maxBytes) {}

    @Override
    public void pauseReading() {}

    @Override
    public void resumeReading() {}

    @Override
    public void close(int code, String reason) {}

    @Override
    public void abort() {}
  }

  private void publish() {
    SendResult result =
        outbox.add(
            outbox.topic("t"),
            encoder.encode(Event.of(new byte[10]), null),
            null,
            encoder::checkAgain);
    assertThat(result).isEqualTo(SendResult.ACCEPTED);
  }

  private void runThreads() {
    while (!threads.isEmpty()) {
      threads.removeFirst().run();
    }
  }

  @Test
  void anEventThatComesAloneLeavesInItsPublishersThread() {
    for (int i = 1; i <= 3; i++) {
      clock.advance(ALONE);
      publish();
      assertThat(sent).hasSize(i);
      assertThat(threads).isEmpty();
    }
  }

  @Test
  void eventsThatComeCloseTogetherLeaveTogetherFromAnotherThread() {
    clock.advance(ALONE);
    publish();
    clock.advance(ALONE.minusNanos(1));
    publish();
    publish();
    publish();
    assertThat(sent).as("only the first").hasSize(1);
    assertThat(threads).hasSize(1);
    runThreads();
    assertThat(sent).hasSize(2);
    assertThat(sent.get(1)).isGreaterThan(sent.get(0));
  }

  @Test
  void aSendThatTakesLongDoesNotMakeTheNextEventOneThatComesAlone() {
    sendTakes = ALONE.multipliedBy(2);
    clock.advance(ALONE);
    publish();
    publish();
    publish();
    assertThat(sent).hasSize(1);
    runThreads();
    assertThat(sent).as("the others together").hasSize(2);
  }

  @Test
  void nothingIsTakenForAConnectionThatHasBeenReplaced() {
    outbox.disconnected();
    outbox.connected(new FakeChannel());
    clock.advance(ALONE);
    publish();
    sender.wake();
    runThreads();
    assertThat(sent).isEmpty();
    FakeChannel third = new FakeChannel();
    outbox.disconnected();
    outbox.connected(third);
    sender.use(third);
    runThreads();
    assertThat(sent).hasSize(1);
  }

  @Test
  void whileTheNetworkIsBusyNobodySendsAndItsAnswerGoesOn() {
    networkIsFast = false;
    clock.advance(ALONE);
    publish();
    clock.advance(ALONE);
    publish();
    publish();
    assertThat(sent).hasSize(1);
    assertThat(threads).isEmpty();
    networkIsFast = true;
    underWay.removeFirst().onSent(null);
    assertThat(sent).as("not in the network's thread").hasSize(1);
    runThreads();
    assertThat(sent).hasSize(2);
  }

  @Test
  void aControlFrameIsSentByAnotherThread() {
    clock.advance(ALONE);
    outbox.addControl(new byte[] {1, 2, 3});
    assertThat(sent).isEmpty();
    runThreads();
    assertThat(sent).containsExactly(3);
  }
}
