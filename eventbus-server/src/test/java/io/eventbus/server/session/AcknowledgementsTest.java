package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.server.samples.ReachableHeap;
import org.junit.jupiter.api.Test;

/** Acknowledgements of a client. */
class AcknowledgementsTest extends SessionTestCase {
  @Test
  void acknowledgementsOfLongTopicsAreFewer() {
    welcome();
    long before = ReachableHeap.bytes(session.acknowledgements());
    for (int i = 0; i < 100; i++) {
      handle(ControlFrames.encode(TypeCode.ACK, new Ack("x".repeat(250) + i, 1L, 5L)));
    }
    long kept = ReachableHeap.bytes(session.acknowledgements()) - before;
    assertThat(session.acknowledgements().latest())
        .hasSize(2048 / 252)
        .containsKey(new Acknowledgements.Stream("x".repeat(250) + 99, 1));
    assertThat(bus.memory.used()).isBetween(2000L, 5000L).isBetween(kept, 2 * kept);
  }

  @Test
  void acknowledgementsAreBoundedAndTheHighestCounts() {
    welcome();
    for (int i = 0; i < 1000; i++) {
      handle(ControlFrames.encode(TypeCode.ACK, new Ack("t" + i, 1L, 5L)));
    }
    handle(ControlFrames.encode(TypeCode.ACK, new Ack("t999", 1L, 9L)));
    handle(ControlFrames.encode(TypeCode.ACK, new Ack("t999", 1L, 3L)));
    assertThat(link.taken()).isEmpty();
    assertThat(session.acknowledgements().count()).isEqualTo(1002);
    assertThat(session.acknowledgements().latest())
        .hasSize(16)
        .containsEntry(new Acknowledgements.Stream("t999", 1), 9L)
        .containsKey(new Acknowledgements.Stream("t984", 1))
        .doesNotContainKey(new Acknowledgements.Stream("t983", 1));
    assertThat(bus.counters.loops().get(0).acks.get()).isEqualTo(1002);
    assertThat(bus.memory.used()).isBetween(16 * 100L, 16 * 250L);
  }
}
