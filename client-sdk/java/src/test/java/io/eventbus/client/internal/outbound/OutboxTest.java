package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.Transport;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private static final int ANSWER = 1;
  private static final int BARRIER = 2;

  private final ClientOptions options =
      EventBusClient.builder().url("ws://one/bus").batchBytes(1024).options();
  private final Outbox outbox = new Outbox(options.outbound(), new FakeClock());
  private Transport.Channel channel;

  @BeforeEach
  void connect() {
    FakeBus bus = new FakeBus();
    bus.silent = true;
    bus.connect(URI.create("ws://one/bus"), Duration.ofSeconds(1), new SilentListener());
    channel = bus.connection();
    outbox.connected(channel);
  }

  private void addAnswers(int count) {
    for (int i = 0; i < count; i++) {
      outbox.addCall(new CallDeparturesTest.Frame(channel, 1000, ANSWER), false);
    }
  }

  /** Returns the first byte of each message that leaves. */
  private List<Integer> leaving() {
    List<Integer> first = new ArrayList<>();
    for (ByteBuffer next = outbox.next(channel); next != null; next = outbox.next(channel)) {
      first.add((int) next.get(next.position()));
      outbox.sent();
    }
    return first;
  }

  @Test
  void eventsAndAnswersTakeTurns() {
    addAnswers(3);
    outbox.addBarrier(Batch.ofBarrier(new byte[] {BARRIER}, 1));
    assertThat(leaving()).containsExactly(ANSWER, BARRIER, ANSWER, ANSWER);
  }

  /** Checks the end: the connection is closed when the last barrier is answered. */
  @Test
  void theLastBarrierIsBehindAllAnswers() {
    outbox.close();
    addAnswers(3);
    outbox.addBarrier(Batch.ofBarrier(new byte[] {BARRIER}, 1));
    assertThat(leaving()).containsExactly(ANSWER, ANSWER, ANSWER, BARRIER);
  }

  /** Listener that does nothing. */
  private static final class SilentListener implements Transport.Listener {
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
  }
}
