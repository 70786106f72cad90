package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Subscriber that stops reading, under each policy, with a fast one beside it. */
@ExtendWith(LeakWatch.class)
@Timeout(90)
class OverflowIT {
  /** Number of events of 8 kB: more than the system's buffers and the queue hold. */
  private static final int EVENTS = 1500;

  private static WatchedBus bus(String... more) throws IOException {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "limits.payload-bytes", "64KiB",
                "limits.message-bytes", "256KiB",
                "limits.queue-bytes", "512KiB",
                "timeouts.slow-subscriber", "25s",
                "timeouts.close", "1s"));
    settings.addAll(List.of(more));
    return WatchedBus.start(settings.toArray(new String[0]));
  }

  private static RawClient slow(URI bus) throws IOException {
    RawClient slow = RawClient.slow(bus, 4096);
    slow.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
    return slow;
  }

  /** Reads in a thread of its own, so that it is always fast. */
  private static final class Fast implements AutoCloseable {
    final Coverage coverage = new Coverage();
    private final RawClient client;
    private final Thread thread;
    private volatile Throwable failure = new AssertionError("not finished");

    Fast(URI bus, String filter, int events) throws IOException {
      client = RawClient.connected(bus);
      client.subscribe(1, filter);
      thread = new Thread(() -> run(events), "fast");
      thread.start();
    }

    private void run(int events) {
      try {
        coverage.readUntil(client, events);
        failure = new AssertionError("finished");
      } catch (IOException | RuntimeException | AssertionError e) {
        failure = e;
      }
    }

    /** Checks that it got everything. */
    void awaitAll(int events) throws InterruptedException {
      thread.join(RawClient.DEADLINE_MILLIS);
      if (coverage.deliveredCount() != events || coverage.missingCount() != 0) {
        throw new AssertionError("the fast one got " + coverage, failure);
      }
    }

    @Override
    public void close() throws IOException {
      client.close();
    }
  }

  @Test
  void dropOldestTellsExactlyWhatIsMissing() throws Exception {
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "t.*", EVENTS)) {
      slow.subscribe(1, "t.a", null, Overflow.DROP_OLDEST);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, 0)) {
        publishing.awaitEnd();
      }
      fast.awaitAll(EVENTS);
      Coverage got = new Coverage().readUntil(slow, EVENTS);
      assertThat(got.missingCount()).isPositive();
      assertThat(got.wasDelivered("t.a", 1)).isTrue();
      assertThat(got.wasDelivered("t.a", EVENTS)).isTrue();
      assertThat(bus.dropped("queue_full")).isEqualTo(got.missingCount());
      assertThat(bus.metric("eventbus_gaps_total")).isPositive();
    }
  }

  @Test
  void conflateKeepsTheLastOfEachKey() throws Exception {
    int keys = 20;
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "t.*", EVENTS)) {
      slow.subscribe(1, "t.a", null, Overflow.CONFLATE);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, keys)) {
        publishing.awaitEnd();
      }
      fast.awaitAll(EVENTS);
      Coverage got = new Coverage().readUntil(slow, EVENTS);
      assertThat(got.missingCount()).isPositive();
      for (int last = EVENTS - keys + 1; last <= EVENTS; last++) {
        assertThat(got.wasDelivered("t.a", last)).isTrue();
      }
      assertThat(bus.dropped("conflated") + bus.dropped("queue_full"))
          .isEqualTo(got.missingCount());
    }
  }

  @Test
  void conflateWithMoreKeysThanFitTellsWhatIsMissing() throws Exception {
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri())) {
      slow.subscribe(1, "t.>", null, Overflow.CONFLATE);
      try (Publishing one = new Publishing(bus.uri(), "t.a", EVENTS, 300);
          Publishing two = new Publishing(bus.uri(), "t.b", EVENTS, 1)) {
        one.awaitEnd();
        two.awaitEnd();
      }
      Coverage got = new Coverage().readUntil(slow, 2 * EVENTS);
      assertThat(bus.dropped("queue_full")).isPositive();
      assertThat(bus.dropped("conflated")).isPositive();
      assertThat(bus.dropped("conflated") + bus.dropped("queue_full"))
          .isEqualTo(got.missingCount());
    }
  }

  @Test
  void disconnectClosesTheSlowOne() throws Exception {
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "t.*", EVENTS)) {
      slow.subscribe(1, "t.a", null, Overflow.DISCONNECT);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, 0)) {
        publishing.awaitEnd();
      }
      fast.awaitAll(EVENTS);
      assertThat(bus.closed("slow_consumer")).isEqualTo(1);
      assertThat(bus.dropped("disconnected")).isPositive();
    }
  }

  @Test
  void disconnectSaysWhyToWhoReadsInTime() throws Exception {
    try (WatchedBus bus = bus("timeouts.close", "20s");
        RawClient slow = slow(bus.uri())) {
      slow.subscribe(1, "t.a", null, Overflow.DISCONNECT);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, 0)) {
        publishing.awaitEnd();
      }
      Ending ending = Ending.of(slow);
      assertThat(ending.code()).isEqualTo(4001);
      assertThat(ending.closeFrames()).isEqualTo(1);
    }
  }

  @Test
  void blockLosesNothingAndHoldsThePublisherBack() throws Exception {
    // Between two loops there is room for all of the events, if the other one is late.
    try (WatchedBus bus = bus("listen.event-loops", "1");
        RawClient slow = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "t.*", EVENTS)) {
      slow.subscribe(1, "t.a", null, Overflow.BLOCK);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, 0)) {
        WatchedBus.await(
            () -> bus.metric("eventbus_queue_bytes") >= 512 * 1024,
            () -> "queued: " + bus.metric("eventbus_queue_bytes"));
        bus.pair().awaitProgress();
        assertThat(publishing.confirmed()).isLessThan(EVENTS);
        Coverage got = new Coverage().readUntil(slow, EVENTS);
        assertThat(got.deliveredCount()).isEqualTo(EVENTS);
        publishing.awaitEnd();
      }
      fast.awaitAll(EVENTS);
      assertThat(bus.dropped("queue_full")).isZero();
    }
  }

  @Test
  void blockGivesUpTheSlowOneAtTheDeadline() throws Exception {
    try (WatchedBus bus = bus("timeouts.slow-subscriber", "1s");
        RawClient slow = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "t.*", EVENTS)) {
      slow.subscribe(1, "t.a", null, Overflow.BLOCK);
      try (Publishing publishing = new Publishing(bus.uri(), "t.a", EVENTS, 0)) {
        publishing.awaitEnd();
      }
      fast.awaitAll(EVENTS);
      assertThat(bus.closed("slow_consumer")).isEqualTo(1);
      assertThat(bus.dropped("disconnected")).isPositive();
    }
  }

  @Test
  void policiesOfOneConnectionHoldForTheirTopics() throws Exception {
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri())) {
      slow.subscribe(1, "m.block", null, Overflow.BLOCK);
      slow.subscribe(2, "m.drop", null, Overflow.DROP_OLDEST);
      slow.subscribe(3, "m.conflate", null, Overflow.CONFLATE);
      try (Publishing drop = new Publishing(bus.uri(), "m.drop", EVENTS, 0);
          Publishing conflate = new Publishing(bus.uri(), "m.conflate", EVENTS, 5)) {
        drop.awaitEnd();
        conflate.awaitEnd();
        try (Publishing block = new Publishing(bus.uri(), "m.block", 200, 0)) {
          Coverage got = new Coverage().readUntil(slow, 2 * EVENTS + 200);
          assertThat(got.deliveredOf("m.block")).isEqualTo(200);
          assertThat(got.wasDelivered("m.drop", EVENTS)).isTrue();
          assertThat(got.missingCount()).isPositive();
          block.awaitEnd();
        }
      }
    }
  }

  @Test
  void aGroupGoesRoundItsFullMember() throws Exception {
    try (WatchedBus bus = bus();
        RawClient slow = slow(bus.uri());
        RawClient busy = RawClient.connected(bus.uri())) {
      slow.subscribe(1, "g.a", "workers", Overflow.BLOCK);
      busy.subscribe(2, "g.a", "workers", Overflow.BLOCK);
      List<Long> first = new ArrayList<>();
      try (Publishing publishing = new Publishing(bus.uri(), "g.a", 2 * EVENTS, 0)) {
        Thread reader =
            new Thread(
                () -> {
                  try {
                    while (true) {
                      first.add(busy.expectDeliver().sequence());
                    }
                  } catch (IOException | AssertionError e) {
                    // Its socket is closed below.
                    return;
                  }
                },
                "busy");
        reader.start();
        publishing.awaitEnd();
        List<Long> second = new ArrayList<>();
        slow.send(TestFrames.barrier(1));
        for (RawClient.BusFrame f = slow.read();
            f != null && f.typeCode() == TypeCode.DELIVER.code();
            f = slow.read()) {
          RawClient.Delivered d = RawClient.delivered(f);
          assertThat(d.groups()).containsExactly(1L);
          second.add(d.sequence());
        }
        WatchedBus.await(
            () -> first.size() + second.size() >= 2 * EVENTS,
            () -> first.size() + " and " + second.size());
        busy.socket().close();
        reader.join(RawClient.DEADLINE_MILLIS);
        assertThat(first.size()).isGreaterThan(second.size());
        assertThat(second).isSorted().isNotEmpty().doesNotContainAnyElementsOf(first);
        assertThat(first.size() + second.size()).isEqualTo(2 * EVENTS);
      }
    }
  }

  @Test
  void atTheMemoryLimitTheBiggestQueueGoes() throws Exception {
    try (WatchedBus bus = bus("limits.memory-bytes", "2MiB", "listen.event-loops", "3")) {
      List<RawClient> sleepers = new ArrayList<>();
      try {
        for (int i = 0; i < 12; i++) {
          RawClient slow = slow(bus.uri());
          slow.subscribe(1, "mem." + i, null, i % 2 == 0 ? Overflow.BLOCK : Overflow.DROP_OLDEST);
          sleepers.add(slow);
        }
        List<Publishing> publishers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
          // A single message of each fits the room for unfinished ones, an eighth of the memory:
          // a lack of it is not the subject here.
          publishers.add(
              new Publishing(bus.uri(), "mem." + i, i % 2 == 0 ? 300 : 900, 0, 20 * 1024));
        }
        WatchedBus.await(
            () -> {
              assertThat(bus.metric("eventbus_memory_used_bytes")).isLessThan(3.5 * 1024 * 1024);
              return bus.closed("slow_consumer") > 0;
            },
            () ->
                "nobody was closed: "
                    + bus.metric("eventbus_memory_used_bytes")
                    + " bytes used, "
                    + bus.metric("eventbus_queue_bytes")
                    + " queued, confirmed: "
                    + publishers.stream().map(Publishing::confirmed).toList());
        bus.pair().awaitProgress();
        for (RawClient sleeper : sleepers) {
          sleeper.close();
        }
        for (Publishing publisher : publishers) {
          publisher.awaitEnd();
          publisher.close();
        }
      } finally {
        for (RawClient sleeper : sleepers) {
          sleeper.close();
        }
      }
    }
  }

  @Test
  void manyPublishersOnManyLoopsAreEachToldExactly() throws Exception {
    int publishers = 4;
    try (WatchedBus bus = bus("listen.event-loops", "4");
        RawClient slow = slow(bus.uri());
        RawClient conflating = slow(bus.uri());
        Fast fast = new Fast(bus.uri(), "p.>", publishers * EVENTS)) {
      slow.subscribe(1, "p.*", null, Overflow.DROP_OLDEST);
      conflating.subscribe(1, "p.*", null, Overflow.CONFLATE);
      List<Publishing> all = new ArrayList<>();
      for (int i = 0; i < publishers; i++) {
        all.add(new Publishing(bus.uri(), "p.x", EVENTS, 7));
      }
      for (Publishing publishing : all) {
        publishing.awaitEnd();
        publishing.close();
      }
      fast.awaitAll(publishers * EVENTS);
      Coverage dropping = new Coverage().readUntil(slow, publishers * EVENTS);
      Coverage conflated = new Coverage().readUntil(conflating, publishers * EVENTS);
      assertThat(bus.dropped("conflated") + bus.dropped("queue_full"))
          .isEqualTo(dropping.missingCount() + conflated.missingCount());
    }
  }
}
