package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.transport.websocket.Opcode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Order after all that was queued before: of a marker ping, and of a close; and when credit holds.
 */
class BusHandlerTest {
  private final Wire wire = new Wire(Wire.smallQueue());
  private final List<BusHandler> handlers = new ArrayList<>();
  private final List<String> read = new ArrayList<>();

  @BeforeEach
  void welcome() {
    wire.connect(
        false,
        connection -> {
          handlers.add(new BusHandler(wire.loop, connection, System.nanoTime(), false, false));
          return handlers.get(0);
        });
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("test", "test/1", null, null, Map.of(), null, null, null));
    wire.read(new ClientBytes().binary(hello).array());
    assertThat(wire.frames()).hasSize(1).first().isInstanceOf(Welcome.class);
  }

  @AfterEach
  void assertNoLeaks() {
    wire.assertNothingHeld();
  }

  private BusHandler handler() {
    return handlers.get(0);
  }

  /** Stops reading, and fills more than the socket takes. */
  private void stickAndFill() {
    wire.stick();
    byte[] frame =
        ControlFrames.encode(
            TypeCode.PROBLEM,
            new Problem(ErrorCode.OVERLOADED, "x".repeat(1_000), true, 0L, 0, ""));
    int frames = 0;
    do {
      handler().queue().send(frame);
      wire.run();
      assertThat(++frames).isLessThan(10_000);
    } while (handler().queuedBytes() == 0);
  }

  private void pong(byte number) {
    wire.read(
        new ClientBytes().frame(ClientBytes.FIN | Opcode.PONG, new byte[] {number}, 5).array());
  }

  /** A queue counts ticks until it is known to be empty; then the next check may be later. */
  @Test
  void aConnectionSleepsOnceItsQueueIsKnownToBeEmptyAndNothingWaits() {
    int ticks = 1;
    while (!wire.connection().onTick(System.nanoTime())) {
      assertThat(++ticks).isLessThan(100);
    }
    assertThat(ticks).isBetween(20, 32);
    stickAndFill();
    assertThat(wire.connection().onTick(System.nanoTime())).isFalse();
  }

  /** Returns the number of the ping, which was written last. */
  private static byte question(List<Object> written) {
    assertThat(written).isNotEmpty();
    assertThat(written.get(written.size() - 1)).isInstanceOf(Wire.Message.class);
    Wire.Message last = (Wire.Message) written.get(written.size() - 1);
    assertThat(last.opcode()).isEqualTo(Opcode.PING);
    ByteBuffer payload = last.payload();
    assertThat(payload.remaining()).isEqualTo(1);
    return payload.get(payload.position());
  }

  private static boolean isPing(Object frame) {
    return frame instanceof Wire.Message m && m.opcode() == Opcode.PING;
  }

  @Test
  void aClientIsAskedBehindWhatIsQueuedAndAnswersWhenItHasReadIt() {
    stickAndFill();
    handler().whenRead(() -> read.add("first"));
    pong((byte) 1);
    assertThat(read).as("it was not asked yet").isEmpty();
    wire.unstick();
    byte number = question(wire.written());
    assertThat(read).isEmpty();
    pong((byte) (number + 1));
    assertThat(read).as("another question").isEmpty();
    pong(number);
    pong(number);
    assertThat(read).containsExactly("first");
  }

  @Test
  void aPageMayNotBlockUnlessThatIsAllowed() {
    assertThat(handler().mayBlock()).as("no page").isTrue();
    for (Wire bus : List.of(new Wire(), new Wire("listen.browser-block", "allow"))) {
      bus.connect(
          false,
          connection -> {
            handlers.add(new BusHandler(bus.loop, connection, System.nanoTime(), false, true));
            return handlers.get(handlers.size() - 1);
          });
      bus.assertNothingHeld();
    }
    assertThat(handlers.get(1).mayBlock()).isFalse();
    assertThat(handlers.get(2).mayBlock()).isTrue();
  }

  private void offer(long sequence) {
    Delivery delivery =
        SampleFrames.delivery(
            wire.allocator,
            wire.memory,
            "t",
            3,
            sequence,
            System.nanoTime(),
            List.of(new SampleFrames.Event(null, "x")));
    handler().queue().offer(delivery, Overflow.BLOCK);
    delivery.release();
    wire.run();
  }

  /**
   * The client's credit may lie behind frames that wait for memory, and that memory may wait for
   * the credit.
   */
  @Test
  void creditDoesNotHoldWhileWhatTheClientSentWaitsForMemory() {
    byte[] message =
        new ClientBytes()
            .binary(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)))
            .binary(ControlFrames.encode(TypeCode.ECHO, new Echo(2L)))
            .array();
    handler().queue().grant(0);
    offer(1);
    assertThat(wire.frames()).isEmpty();
    long all = wire.memory.limit();
    wire.memory.reserve(all);
    wire.read(Arrays.copyOf(message, 5));
    assertThat(wire.frames()).hasSize(1).first().isInstanceOf(SampleFrames.Delivered.class);
    wire.memory.release(all);
    wire.run();
    offer(2);
    assertThat(wire.frames()).as("read again: credit holds").isEmpty();
    wire.read(Arrays.copyOfRange(message, 5, message.length));
    assertThat(wire.frames()).hasSize(2);
    handler().queue().grant(Long.MAX_VALUE);
    assertThat(wire.frames()).hasSize(1).first().isInstanceOf(SampleFrames.Delivered.class);
  }

  @Test
  void deliveriesThatWaitForCreditComeBeforeACloseAndKeepNoQuestionBack() {
    handler().queue().grant(0);
    offer(1);
    handler().whenRead(() -> read.add("first"));
    pong(question(wire.written()));
    assertThat(read).containsExactly("first");
    assertThat(wire.written()).isEmpty();
    // No credit is seen any more: what is queued goes first, without.
    handler().closeWhenWritten(CloseReason.CHANGE_BUS, "go on there");
    List<Object> written = wire.frames();
    assertThat(written).hasSize(2).first().isInstanceOf(SampleFrames.Delivered.class);
    assertThat(written.get(1))
        .isEqualTo(new Wire.Close(CloseReason.CHANGE_BUS.code(), "go on there"));
  }

  @Test
  void theAnswerToAnEarlierQuestionIsNoneToALaterOne() {
    handler().whenRead(() -> read.add("first"));
    byte first = question(wire.written());
    handler().whenRead(() -> read.add("second"));
    byte second = question(wire.written());
    pong(first);
    assertThat(read).isEmpty();
    pong(second);
    assertThat(read).containsExactly("second");
  }

  @Test
  void aCloseComesBehindWhatIsQueued() {
    stickAndFill();
    long before = handler().queuedBytes();
    handler().closeWhenWritten(CloseReason.CHANGE_BUS, "go on there");
    handler().onTick(System.nanoTime());
    assertThat(handler().queuedBytes()).isEqualTo(before);
    wire.unstick();
    List<Object> written = wire.frames();
    assertThat(written.stream().filter(f -> f instanceof Problem)).hasSizeGreaterThan(50);
    assertThat(written.get(written.size() - 1))
        .isEqualTo(new Wire.Close(CloseReason.CHANGE_BUS.code(), "go on there"));
    assertThat(written).noneMatch(BusHandlerTest::isPing);
  }

  @Test
  void aCloseDoesNotWaitForEverForAClientThatReadsNothing() {
    stickAndFill();
    long before = System.nanoTime();
    handler().closeWhenWritten(CloseReason.CHANGE_BUS, "go on there");
    long after = System.nanoTime();
    long timeout = wire.config.timeouts().slowSubscriber().toNanos();
    handler().onTick(before + timeout);
    assertThat(wire.counters.closes(CloseReason.CHANGE_BUS)).isZero();
    handler().onTick(after + timeout + 1);
    assertThat(wire.counters.closes(CloseReason.CHANGE_BUS)).isEqualTo(1);
  }
}
