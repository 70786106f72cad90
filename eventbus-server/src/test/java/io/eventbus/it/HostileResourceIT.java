package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Clients that try to use up the bus: their resources are bounded, and come back. */
class HostileResourceIT extends HostileTests {
  /**
   * Maximum of held bytes: more than the answers that may wait for a client, their overhead, and
   * the bytes of a read.
   */
  private static final double MAX_HELD = 4 * 1024 * 1024;

  @Override
  String[] settings() {
    return new String[] {
      "timeouts.upgrade", "1m",
      "timeouts.hello", "1m",
      "timeouts.close", "1s",
      "timeouts.slow-subscriber", "1s",
      "compression.enabled", "true"
    };
  }

  private static final String DEFLATING =
      String.join(
          "\r\n",
          "Sec-WebSocket-Protocol: eventbus.v1.avro",
          "Sec-WebSocket-Extensions: permessage-deflate",
          "");

  private static byte[] many(byte[] frame, int times) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < times; i++) {
      all.writeBytes(frame);
    }
    return all.toByteArray();
  }

  /** Writes without reading until the bus ends it; meanwhile the bus must not hold much. */
  private void floodUntilClosed(byte[] message) throws Exception {
    double before = bus.closed("slow_consumer");
    try (RawClient client = RawClient.slow(bus.uri(), 4096)) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      byte[] frame = RawClient.frame(0x82, message);
      Thread flood =
          new Thread(
              () -> {
                try {
                  while (true) {
                    client.raw(frame);
                  }
                } catch (IOException e) {
                  // Closed, as it has to be.
                  return;
                }
              },
              "flood");
      flood.start();
      WatchedBus.await(
          () -> {
            assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(MAX_HELD);
            return bus.closed("slow_consumer") == before + 1;
          },
          () -> "the flood was not closed");
      bus.pair().awaitProgress();
      flood.join(RawClient.DEADLINE_MILLIS);
      assertThat(flood.isAlive()).isFalse();
    }
  }

  @Test
  void aFloodOfBarriersIsBounded() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      // The answers are small: the system's buffers take very many before anything fills up.
      for (int i = 0; i < 20; i++) {
        client.send(many(TestFrames.barrier(1), 1000));
        assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(MAX_HELD);
      }
      for (int i = 0; i < 20 * 1000; i++) {
        client.expect(TypeCode.BARRIER);
      }
    }
  }

  @Test
  void memoryKeptForClientsIsCounted() throws Exception {
    int count = 100;
    ByteArrayOutputStream acks = new ByteArrayOutputStream();
    for (int i = 0; i < 256; i++) {
      String topic = i + "." + "x".repeat(251);
      acks.writeBytes(ControlFrames.encode(TypeCode.ACK, new Ack(topic, 1L, 1L)));
    }
    acks.writeBytes(TestFrames.barrier(1));
    List<RawClient> keepers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        keepers.add(RawClient.connected(bus.uri()));
      }
      for (RawClient keeper : keepers) {
        keeper.send(acks.toByteArray());
        keeper.expect(TypeCode.BARRIER);
      }
      assertThat(bus.metric("eventbus_memory_used_bytes"))
          .isBetween(count * 2000.0, count * 5000.0);
    } finally {
      for (RawClient keeper : keepers) {
        keeper.close();
      }
    }
  }

  @Test
  void aHelloWithManyAttributesIsTooBig() throws Exception {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < 64; i++) {
      attributes.put(i + "n".repeat(250), "v".repeat(255));
    }
    Hello hello = new Hello("raw", "test", null, null, attributes, null, null, null);
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(ControlFrames.encode(TypeCode.HELLO, hello));
      Ending ending = Ending.of(client);
      assertThat(ending.code()).isEqualTo(1009);
    }
  }

  @Test
  void aFloodOfUnknownFramesIsBounded() throws Exception {
    floodUntilClosed(many(TestFrames.frame(77), 1000));
  }

  @Test
  void aFloodOfRefusedPublishesIsBounded() throws Exception {
    floodUntilClosed(many(RawClient.publish("a..b", 1, true, "x"), 1000));
  }

  @Test
  void aFloodOfConfirmedPublishesIsBounded() throws Exception {
    floodUntilClosed(many(RawClient.publish("a." + "x".repeat(253), 1, true, "x"), 200));
  }

  @Test
  void aFloodOfSubscriptionsIsBounded() throws Exception {
    byte[] both =
        TestFrames.join(
            ControlFrames.encode(
                TypeCode.SUBSCRIBE, new Subscribe(1L, "flood.*", null, Overflow.BLOCK)),
            ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    try (RawClient client = RawClient.connected(bus.uri())) {
      // The answers are small: the system's buffers take very many before anything fills up.
      for (int i = 0; i < 20; i++) {
        client.send(many(both, 500));
        assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(MAX_HELD);
      }
      bus.pair().awaitProgress();
      int[] answers = new int[TypeCode.values().length];
      for (int i = 0; i < 3 * 20 * 500; i++) {
        answers[Objects.requireNonNull(client.read(), "closed").typeCode()]++;
      }
      assertThat(answers[TypeCode.CONFIRM.code()]).isEqualTo(2 * 20 * 500);
      assertThat(answers[TypeCode.DRAINED.code()]).isEqualTo(20 * 500);
    }
  }

  @Test
  void aSelfPublisherThatNeverReadsIsClosed() throws Exception {
    double before = bus.closed("slow_consumer");
    try (RawClient client = RawClient.slow(bus.uri(), 4096)) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      client.subscribe(1, "self");
      byte[] payload = new byte[1_000_000];
      long sequence = 1;
      try {
        while (bus.closed("slow_consumer") == before) {
          client.raw(RawClient.frame(0x82, RawClient.publish("self", sequence++, false, payload)));
          assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(24 * 1024 * 1024);
        }
      } catch (SocketException e) {
        assertThat(sequence).isGreaterThan(8);
      }
      assertThat(bus.closed("slow_consumer")).isEqualTo(before + 1);
    }
  }

  @Test
  void aFloodOfPingsIsAnsweredWithinBounds() throws Exception {
    try (RawClient client = RawClient.slow(bus.uri(), 4096)) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      byte[] pings = many(RawClient.frame(0x89, new byte[125]), 500);
      for (int i = 0; i < 200; i++) {
        client.raw(pings);
      }
      assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(MAX_HELD);
      // The client is still connected: once it reads, it is served.
      client.send(TestFrames.barrier(4));
      client.expect(TypeCode.BARRIER);
    }
  }

  @Test
  void aSubscriberThatNeverReadsLosesEventsWithoutDisturbingOthers() throws Exception {
    try (RawClient sleeper = RawClient.slow(bus.uri(), 4096);
        RawClient publisher = RawClient.connected(bus.uri())) {
      sleeper.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      sleeper.subscribe(1, ">", null, Overflow.DROP_OLDEST);
      byte[] payload = new byte[1_000_000];
      for (int i = 1; i <= 40; i++) {
        publisher.send(RawClient.publish("noise", i, true, payload));
        publisher.expectConfirm();
        assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(16 * 1024 * 1024);
      }
      assertThat(bus.dropped("queue_full")).isPositive();
      bus.pair().awaitProgress();
    }
  }

  @Test
  void aBytewiseReaderIsClosedAtTheDeadline() throws Exception {
    double before = bus.closed("slow_consumer");
    try (RawClient slow = RawClient.slow(bus.uri(), 4096);
        RawClient publisher = RawClient.connected(bus.uri())) {
      slow.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      slow.subscribe(1, "drip", null, Overflow.BLOCK);
      Thread reader = new Thread(() -> readSlowly(slow), "slow-reader");
      reader.start();
      byte[] payload = new byte[1_000_000];
      for (int i = 1; bus.closed("slow_consumer") == before; i++) {
        publisher.send(RawClient.publish("drip", i, true, payload));
        publisher.expectConfirm();
      }
      bus.pair().awaitProgress();
      slow.socket().close();
      reader.join(RawClient.DEADLINE_MILLIS);
      assertThat(reader.isAlive()).isFalse();
    }
  }

  private static void readSlowly(RawClient client) {
    try {
      byte[] one = new byte[1];
      while (client.socket().getInputStream().read(one) > 0) {
        LockSupport.parkNanos(100_000_000);
        if (Thread.interrupted()) {
          return;
        }
      }
    } catch (IOException e) {
      // The bus has given up on it.
      return;
    }
  }

  @Test
  void aCompressedMessageThatIsHugeIsTooBig() throws Exception {
    byte[] bomb = Deflating.deflate(new byte[64 * 1024 * 1024]);
    assertThat(bomb.length).isLessThan(70_000);
    for (byte[] message : List.of(bomb, Deflating.deflate(new byte[4 * 1024 * 1024 + 1]))) {
      try (RawClient client = RawClient.tcp(bus.uri())) {
        client.upgrade("/bus", DEFLATING);
        client.hello(null);
        client.sendFrame(0xC2, message);
        Ending ending = Ending.of(client);
        assertThat(ending.code()).isEqualTo(1009);
        assertThat(ending.closeFrames()).isEqualTo(1);
      }
    }
  }

  @Test
  void brokenCompressionIsMalformed() throws Exception {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      client.upgrade("/bus", DEFLATING);
      client.hello(null);
      client.sendFrame(0xC2, new byte[] {(byte) 0xFF, (byte) 0xFF, 1, 2, 3});
      assertThat(Ending.of(client).code()).isEqualTo(1007);
    }
  }

  @Test
  void halfMessagesHeldByManyAreCounted() throws Exception {
    List<RawClient> holders = new ArrayList<>();
    try {
      for (int i = 0; i < 20; i++) {
        RawClient client = RawClient.connected(bus.uri());
        holders.add(client);
        // A message of which only fragments come, and of the last one only a part: room is
        // acquired for all of it.
        client.raw(RawClient.frame(0x02, new byte[50_000]));
        client.raw(RawClient.frame(0x80, new byte[50_000], 100_000));
      }
      WatchedBus.await(
          () -> bus.metric("eventbus_memory_used_bytes") >= 20 * 150_000,
          () -> "held: " + bus.metric("eventbus_memory_used_bytes"));
      assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(20 * 300_000);
      bus.pair().awaitProgress();
    } finally {
      for (RawClient client : holders) {
        client.close();
      }
    }
  }

  @Test
  void aClientThatVanishesInTheMiddleOfEverythingLeavesNothing() throws Exception {
    byte[] publish = RawClient.publish("vanish", 1, true, "some payload");
    byte[] whole = RawClient.frame(0x82, publish);
    for (int cut = 0; cut < whole.length; cut += 3) {
      try (RawClient client = RawClient.connected(bus.uri())) {
        client.subscribe(1, "vanish");
        client.raw(Arrays.copyOf(whole, cut));
        client.socket().setSoLinger(true, 0);
      } catch (SocketTimeoutException e) {
        throw new AssertionError("cut after " + cut, e);
      }
    }
  }
}
