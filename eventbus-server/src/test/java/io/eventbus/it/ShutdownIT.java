package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TypeCode;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Bus that ends under load: confirmed events are delivered, and it ends in time. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class ShutdownIT {
  /** Reads or publishes until the bus closes. */
  private static final class Client extends Thread {
    private final RawClient client;
    private final String topic;
    private volatile long last;
    private volatile String failure = "";

    Client(RawClient client, String topic) {
      super("client of " + topic);
      this.client = client;
      this.topic = topic;
    }

    @Override
    public void run() {
      try {
        if (topic.isEmpty()) {
          read();
        } else {
          publish();
        }
      } catch (IOException | RuntimeException e) {
        failure = e.toString();
      }
    }

    private void read() throws IOException {
      for (RawClient.BusFrame frame = client.read(); frame != null; frame = client.read()) {
        RawClient.Delivered d = RawClient.delivered(frame);
        if (d.sequence() != last + 1) {
          failure = d.sequence() + " after " + last;
        }
        last = d.sequence();
      }
      end();
    }

    private void publish() throws IOException {
      byte[] payload = new byte[2000];
      for (long i = 1; i < Long.MAX_VALUE; i++) {
        try {
          client.send(RawClient.publish(topic, i, true, payload));
        } catch (IOException e) {
          // The bus reads no more; whether it confirmed the one before is read below.
          last = i - 1;
        }
        RawClient.BusFrame answer = client.read();
        if (answer == null) {
          end();
          return;
        }
        if (answer.typeCode() != TypeCode.CONFIRM.code()) {
          failure = "type " + answer.typeCode();
        }
        last = i;
      }
    }

    private void end() throws IOException {
      if (client.closeCode != 1001) {
        failure = "closed with " + client.closeCode;
      }
      client.sendFrame(0x88, new byte[] {3, (byte) 0xE9});
    }
  }

  @Test
  void confirmedEventsAreDelivered() throws Exception {
    BusServer bus = TestBus.start("listen.event-loops", "3");
    List<Client> publishers = new ArrayList<>();
    List<Client> subscribers = new ArrayList<>();
    try (bus) {
      for (int i = 0; i < 6; i++) {
        String topic = "load." + i;
        RawClient subscriber = RawClient.connected(bus.uri());
        subscriber.subscribe(1, topic);
        subscribers.add(new Client(subscriber, ""));
        publishers.add(new Client(RawClient.connected(bus.uri()), topic));
      }
      subscribers.forEach(Thread::start);
      publishers.forEach(Thread::start);
      WatchedBus.await(
          () -> publishers.stream().allMatch(p -> p.last > 100), () -> "the load did not start");
    }
    for (int i = 0; i < publishers.size(); i++) {
      Client publisher = publishers.get(i);
      Client subscriber = subscribers.get(i);
      publisher.join(RawClient.DEADLINE_MILLIS);
      subscriber.join(RawClient.DEADLINE_MILLIS);
      assertThat(publisher.failure).isEmpty();
      assertThat(subscriber.failure).isEmpty();
      assertThat(subscriber.last).isGreaterThanOrEqualTo(publisher.last);
      publisher.client.close();
      subscriber.client.close();
    }
  }

  @Test
  void aClientThatDoesNotReadDoesNotDelayTheShutdown() throws Exception {
    BusServer bus =
        TestBus.start(
            "timeouts.shutdown", "1s",
            "timeouts.close", "1s",
            // A caller that waited for this would not end within the time of this test.
            "timeouts.slow-subscriber", "10m",
            "limits.queue-bytes", "64MiB");
    try (RawClient sleeper = RawClient.slow(bus.uri(), 4096);
        RawClient silent = RawClient.connected(bus.uri());
        RawClient tcpOnly = RawClient.tcp(bus.uri());
        RawClient publisher = RawClient.connected(bus.uri())) {
      sleeper.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      sleeper.subscribe(1, "t");
      for (int i = 1; i <= 20; i++) {
        publisher.send(RawClient.publish("t", i, true, new byte[1_000_000]));
        publisher.expectConfirm();
      }
      bus.close();
      assertThat(silent.awaitClose()).isEqualTo(1001);
      assertThat(tcpOnly.input().read()).isEqualTo(-1);
      bus.close();
    }
  }

  @Test
  void halfAMessageIsNotConfirmedAndDoesNotHoldItUp() throws Exception {
    BusServer bus = TestBus.start("timeouts.shutdown", "5s");
    try (bus;
        RawClient publisher = RawClient.connected(bus.uri())) {
      byte[] frame = RawClient.frame(0x82, RawClient.publish("t", 1, true, "x"));
      publisher.raw(Arrays.copyOf(frame, frame.length - 1));
      Thread stopper = new Thread(bus::close, "stopper");
      stopper.start();
      Ending ending = Ending.of(publisher);
      assertThat(ending.code()).isEqualTo(1001);
      assertThat(ending.closeFrames()).isEqualTo(1);
      stopper.join(RawClient.DEADLINE_MILLIS);
      assertThat(stopper.isAlive()).isFalse();
    }
  }
}
