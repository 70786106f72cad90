package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.transport.websocket.FrameWriting;
import io.eventbus.server.transport.websocket.Opcode;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Connection to the bus as its client sees it, with a session behind it. */
class WebSocketConnectionTest {
  private final Wire wire = new Wire();
  private final WebSocketConnection connection =
      wire.connect(false, c -> new BusHandler(wire.loop, c, System.nanoTime(), false, false));

  @AfterEach
  void assertNoLeaks() {
    wire.assertNothingHeld();
  }

  private static byte[] hello() {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("test", "test/1", null, null, Map.of(), null, null, null));
  }

  private void welcome() {
    wire.read(new ClientBytes().binary(hello()).array());
    assertThat(wire.frames()).hasSize(1).first().isInstanceOf(Welcome.class);
  }

  /** Reads so many pings at once that the connection has to let others go first. */
  private void readMoreThanATurn() {
    ClientBytes pings = new ClientBytes();
    for (int i = 0; i < 20_000; i++) {
      pings.frame(ClientBytes.FIN | Opcode.PING, new byte[0], 5);
    }
    wire.freezeTime();
    wire.read(pings.array());
  }

  private static Wire.Close close(Object frame) {
    assertThat(frame).isInstanceOf(Wire.Close.class);
    return (Wire.Close) frame;
  }

  private static Wire.Close only(List<Object> frames) {
    assertThat(frames).hasSize(1);
    return close(frames.get(0));
  }

  @Test
  void aCloseIsAnsweredOnceWithItsCode() {
    welcome();
    wire.read(new ClientBytes().close(4999, "bye").close(1000, "again").array());
    assertThat(only(wire.written()).code()).isEqualTo(4999);
    assertThat(wire.isOpen()).isFalse();
    assertThat(wire.counters.closesByPeer()).isEqualTo(1);
  }

  @Test
  void ourCloseIsSentOnceAndTheirsEndsIt() {
    welcome();
    connection.close(CloseReason.IDLE, "why");
    connection.close(CloseReason.NORMAL, "again");
    assertThat(only(wire.written())).isEqualTo(new Wire.Close(4002, "why"));
    assertThat(wire.isOpen()).isTrue();
    // Messages are ignored, even broken ones; pings around them are not answered.
    wire.read(
        new ClientBytes()
            .binary(new byte[] {-1, -1, -1})
            .frame(ClientBytes.FIN | Opcode.PING, new byte[1], 5)
            .array());
    assertThat(wire.written()).isEmpty();
    wire.read(new ClientBytes().close(4002, "").array());
    assertThat(wire.written()).isEmpty();
    assertThat(wire.isOpen()).isFalse();
    assertThat(wire.counters.closes(CloseReason.IDLE)).isEqualTo(1);
    assertThat(wire.counters.closesByPeer()).isZero();
  }

  @Test
  void aClientThatDoesNotAnswerOurCloseIsCutOff() {
    welcome();
    connection.close(CloseReason.NORMAL, "");
    long now = System.nanoTime();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(1));
    wire.run();
    assertThat(wire.isOpen()).isTrue();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(3));
    wire.run();
    assertThat(wire.isOpen()).isFalse();
  }

  @Test
  void aClosingClientThatHoldsMemoryIsCutOffAtOnce() {
    welcome();
    connection.close(CloseReason.NORMAL, "");
    byte[] part = new ClientBytes().binary(new byte[100_000]).array();
    wire.read(Arrays.copyOf(part, 50_000));
    assertThat(connection.heldBytes()).isGreaterThan(40_000);
    connection.evict();
    wire.run();
    assertThat(wire.isOpen()).isFalse();
    assertThat(connection.heldBytes()).isZero();
  }

  @Test
  void unsentBytesCountAsMemoryOfTheBus() {
    welcome();
    wire.stick();
    connection.writeMessage(wire.allocator.directBuffer().writeBytes(new byte[10_000]));
    connection.flush();
    assertThat(wire.memory.used()).isGreaterThanOrEqualTo(10_000);
    assertThat(connection.pendingBytes()).isEqualTo(wire.memory.used());
    wire.unstick();
    connection.onTick(System.nanoTime());
    assertThat(wire.memory.used()).isZero();
    wire.stick();
    connection.writeMessage(wire.allocator.directBuffer().writeBytes(new byte[10_000]));
    connection.flush();
    assertThat(wire.memory.used()).isPositive();
    wire.hangUp();
    assertThat(wire.memory.used()).isZero();
  }

  @Test
  void aPingIsAnsweredWithItsBytes() {
    wire.read(new ClientBytes().frame(ClientBytes.FIN | Opcode.PING, new byte[] {1, 2}, 9).array());
    assertThat(wire.written())
        .containsExactly(new Wire.Message(Opcode.PONG, false, ByteBuffer.wrap(new byte[] {1, 2})));
  }

  @Test
  void silenceIsAskedAboutAndThenEndsIt() {
    welcome();
    long now = System.nanoTime();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(20));
    assertThat(wire.written()).isEmpty();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(26));
    assertThat(wire.written())
        .containsExactly(new Wire.Message(Opcode.PING, false, ByteBuffer.allocate(0)));
    connection.onTick(now + TimeUnit.SECONDS.toNanos(35));
    assertThat(wire.written()).as("asked once").isEmpty();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(37));
    assertThat(only(wire.written()))
        .isEqualTo(new Wire.Close(4002, "no sign of life for 10s after a ping; reconnect"));
  }

  @Test
  void anySignOfLifeIsEnough() {
    welcome();
    long now = System.nanoTime();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(26));
    assertThat(wire.written()).hasSize(1);
    wire.read(new ClientBytes().frame(ClientBytes.FIN | Opcode.PONG, new byte[0], 9).array());
    connection.onTick(now + TimeUnit.SECONDS.toNanos(37));
    assertThat(wire.written()).isEmpty();
  }

  @Test
  void aClientThatNeverSaysHelloIsClosed() {
    connection.onTick(System.nanoTime() + TimeUnit.SECONDS.toNanos(4));
    assertThat(wire.written()).isEmpty();
    connection.onTick(System.nanoTime() + TimeUnit.SECONDS.toNanos(6));
    assertThat(only(wire.written()))
        .isEqualTo(new Wire.Close(4002, "no Hello within 5s of connecting; reconnect"));
  }

  @Test
  void theProblemComesBeforeTheClose() {
    wire.read(new ClientBytes().binary(SampleFrames.publish("t", 1, true, "x")).array());
    List<Object> frames = wire.frames();
    assertThat(frames).hasSize(2);
    assertThat(frames.get(0))
        .isInstanceOfSatisfying(
            Problem.class,
            p -> {
              assertThat(p.getCode()).isEqualTo(ErrorCode.PROTOCOL_VIOLATION);
              assertThat(p.getTypeCode()).isEqualTo(TypeCode.PUBLISH.code());
            });
    assertThat(close(frames.get(1)).code()).isEqualTo(1002);
  }

  @Test
  void aSecondMessageAfterTheCloseIsNotHandled() {
    welcome();
    wire.read(
        new ClientBytes().binary(hello()).binary(SampleFrames.publish("t", 1, true, "x")).array());
    List<Object> frames = wire.frames();
    assertThat(frames).hasSize(2);
    assertThat(close(frames.get(1)).code()).isEqualTo(1002);
    assertThat(wire.stats.eventsIn.get()).isZero();
  }

  static List<Arguments> violations() {
    int text = Opcode.TEXT;
    int binary = Opcode.BINARY;
    int fin = ClientBytes.FIN;
    return List.of(
        Arguments.of("text", new ClientBytes().text("hi").array(), 1003),
        Arguments.of("text header", new ClientBytes().header(text, 70_000).array(), 1003),
        Arguments.of("4 GiB", new ClientBytes().header(fin | binary, 1L << 32).array(), 1009),
        Arguments.of(
            "2^63-1", new ClientBytes().header(fin | binary, Long.MAX_VALUE).array(), 1009),
        Arguments.of("-1", new ClientBytes().header(fin | binary, -1).array(), 1002),
        Arguments.of(
            "4 MiB and a byte",
            new ClientBytes().header(fin | binary, (4 << 20) + 1).array(),
            1009),
        Arguments.of(
            "2^63-1 behind a fragment",
            new ClientBytes()
                .frame(binary, new byte[200], 3)
                .header(fin | Opcode.CONTINUATION, Long.MAX_VALUE)
                .array(),
            1009),
        Arguments.of(
            "fragments that add up",
            new ClientBytes()
                .frame(binary, new byte[70_000], 3)
                .header(Opcode.CONTINUATION, (4 << 20) - 69_999)
                .array(),
            1009),
        Arguments.of(
            "continuation of nothing",
            new ClientBytes().frame(fin | Opcode.CONTINUATION, new byte[1], 3).array(),
            1002),
        Arguments.of(
            "message inside a message",
            new ClientBytes()
                .frame(binary, new byte[1], 3)
                .frame(fin | binary, new byte[1], 3)
                .array(),
            1002),
        Arguments.of("unmasked", new byte[] {(byte) 0x82, 0}, 1002),
        Arguments.of("reserved bit", new byte[] {(byte) 0xC2, (byte) 0x80}, 1002),
        Arguments.of("opcode 5", new byte[] {(byte) 0x85, (byte) 0x80}, 1002),
        Arguments.of("fragmented ping", new byte[] {0x09, (byte) 0x80}, 1002),
        Arguments.of(
            "close with half a code",
            new ClientBytes().frame(fin | Opcode.CLOSE, new byte[1], 3).array(),
            1002),
        Arguments.of("close with code 1005", new ClientBytes().close(1005, "").array(), 1002));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("violations")
  void aViolationIsClosedWithTheRightCodeInOneReadOrMany(String what, byte[] bytes, int code) {
    welcome();
    wire.read(bytes);
    // Later frames can no longer be told apart.
    wire.read(new ClientBytes().binary(hello()).array());
    assertThat(only(wire.written()).code()).as(what).isEqualTo(code);

    Wire slow = new Wire();
    slow.connect(false, c -> new BusHandler(slow.loop, c, System.nanoTime(), false, false));
    slow.read(new ClientBytes().binary(hello()).array());
    slow.written();
    for (byte b : bytes) {
      slow.read(new byte[] {b});
    }
    assertThat(only(slow.written()).code()).as("%s, byte by byte", what).isEqualTo(code);
    slow.assertNothingHeld();
  }

  @Test
  void fragmentsWithoutEndAndWithoutBytesEnd() {
    welcome();
    ClientBytes many = new ClientBytes().frame(Opcode.BINARY, new byte[0], 3);
    for (int i = 0; i < FrameLimits.MAX_FRAGMENTS; i++) {
      many.frame(Opcode.CONTINUATION, new byte[0], 3);
    }
    wire.freezeTime();
    wire.read(many.array());
    // A turn takes some thousands of frames.
    wire.pass(Duration.ofMillis(1));
    assertThat(only(wire.written()))
        .isEqualTo(
            new Wire.Close(
                1009, "a message of more than 1048576 frames (expected: at most 1048576)"));
  }

  @Test
  void aMessageInVeryManyFragmentsIsOneBufferThatIsCounted() {
    Wire echo = new Wire();
    WebSocketConnection echoing = echo.connect(false, c -> new EchoHandler(echo.loop, c));
    byte[] message = new byte[4 << 20];
    new Random(7).nextBytes(message);
    ClientBytes many = new ClientBytes();
    for (int i = 0; i < message.length; i += 64) {
      many.frame(
          i == 0 ? Opcode.BINARY : Opcode.CONTINUATION, Arrays.copyOfRange(message, i, i + 64), i);
    }
    echo.freezeTime();
    echo.read(many.array());
    echo.pass(Duration.ofMillis(1));
    assertThat(echo.written()).isEmpty();
    // The buffer doubles when it is full, and nothing else is kept of 65,536 fragments.
    assertThat(echoing.heldBytes()).isBetween(4L << 20, 8L << 20);
    assertThat(echo.memory.longPieces().used()).isEqualTo(echoing.heldBytes());
    assertThat(echo.allocator.metric().usedDirectMemory()).isEqualTo(echoing.heldBytes());
    echo.read(
        new ClientBytes().frame(ClientBytes.FIN | Opcode.CONTINUATION, new byte[0], 5).array());
    echo.pass(Duration.ofMillis(1));
    List<Object> back = echo.written();
    assertThat(back).hasSize(1);
    assertThat(back.get(0).equals(new Wire.Message(Opcode.BINARY, false, ByteBuffer.wrap(message))))
        .as("the same 4 MiB")
        .isTrue();
    echo.assertNothingHeld();
  }

  @Test
  void beforeHelloOnlyALittleIsTaken() {
    wire.read(new ClientBytes().header(ClientBytes.FIN | Opcode.BINARY, 65_537).array());
    assertThat(only(wire.written()).code()).isEqualTo(1009);
  }

  @Test
  void theShutdownClosesWhenAllIsWritten() {
    welcome();
    connection.stopReading();
    assertThat(wire.isReading()).isFalse();
    connection.shutdown();
    assertThat(only(wire.written()).code()).isEqualTo(1001);
    assertThat(wire.isReading()).as("for the client's Close").isTrue();
    wire.read(new ClientBytes().close(1001, "").array());
    assertThat(wire.isOpen()).isFalse();
  }

  @Test
  void aConnectionThatIsLostIsCountedOnce() {
    welcome();
    wire.hangUp();
    assertThat(wire.counters.closesByPeer()).isEqualTo(1);
    assertThat(wire.loop.connectionCount()).isZero();
  }

  /** Returns the beginning of a message that goes on. */
  private static byte[] part(int whole, int bytes) {
    return Arrays.copyOf(new ClientBytes().binary(new byte[whole]).array(), bytes);
  }

  @Test
  void aMessageThatIsNotFinishedInTimeEnds() {
    welcome();
    wire.read(part(100_000, 50_000));
    long now = System.nanoTime();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(59));
    assertThat(connection.isOpen()).isTrue();
    connection.onTick(now + TimeUnit.SECONDS.toNanos(61));
    Wire.Close close = only(wire.written().stream().filter(f -> f instanceof Wire.Close).toList());
    assertThat(close.code()).isEqualTo(4002);
    assertThat(close.reason()).contains("not complete within 1m of");
  }

  @Test
  void readingPausesUntilThereIsRoomForAPiece() {
    welcome();
    long room = wire.memory.shortPieces().limit();
    assertThat(wire.memory.shortPieces().tryAcquire(room)).isTrue();
    byte[] whole = new ClientBytes().binary(new byte[10_000]).array();
    wire.read(Arrays.copyOf(whole, 6_000));
    assertThat(wire.isReading()).isFalse();
    wire.memory.shortPieces().release(room);
    wire.run();
    assertThat(wire.isReading()).isTrue();
    wire.read(Arrays.copyOfRange(whole, 6_000, whole.length));
    assertThat(close(wire.written().get(1)).code()).as("zeros are no frames").isEqualTo(1002);
  }

  /**
   * At the end of a stream the system delivers all that has come, whether anything is read or not.
   */
  @Test
  void aClientThatHasGoneLeavesNothingThatWaitsForRoom() {
    welcome();
    long room = wire.memory.shortPieces().limit();
    assertThat(wire.memory.shortPieces().tryAcquire(room)).isTrue();
    byte[] whole = new ClientBytes().binary(new byte[10_000]).array();
    wire.read(Arrays.copyOf(whole, 6_000));
    assertThat(wire.isReading()).isFalse();
    long held = connection.heldBytes();
    wire.read(new byte[60_000]);
    assertThat(held).isLessThan(10_000);
    assertThat(wire.isOpen()).isFalse();
    wire.memory.shortPieces().release(room);
  }

  @Test
  void aClientThatHasGoneLeavesLittleThatWaitsForItsTurn() {
    welcome();
    readMoreThanATurn();
    assertThat(wire.isReading()).isFalse();
    int reads = 0;
    while (wire.isOpen()) {
      wire.read(new byte[64 * 1024]);
      reads++;
      assertThat(reads).isLessThan(5);
    }
  }

  @Test
  void sharedDeliveriesCountOnce() {
    welcome();
    wire.stick();
    long before = wire.memory.used();
    Delivery big =
        SampleFrames.delivery(
            wire.allocator,
            wire.memory,
            "t",
            1,
            1,
            9,
            List.of(new SampleFrames.Event(null, "x".repeat(500_000))));
    long one = wire.memory.used() - before;
    big.retain();
    connection.writeMessage(big);
    connection.flush();
    assertThat(wire.memory.used() - before)
        .as("not for the connection as well")
        .isBetween(one, one + 100);
    big.release();
    assertThat(wire.memory.used() - before)
        .as("until the network has it")
        .isBetween(one, one + 100);
    wire.unstick();
    connection.onTick(System.nanoTime());
    assertThat(wire.memory.used()).isEqualTo(before);
    wire.written();
  }

  private static byte[] pings(int count) {
    ClientBytes pings = new ClientBytes();
    for (byte i = 0; i < count; i++) {
      pings.frame(ClientBytes.FIN | Opcode.PING, new byte[] {i}, 5);
    }
    return pings.array();
  }

  private static Wire.Message pong(int payload) {
    return new Wire.Message(Opcode.PONG, false, ByteBuffer.wrap(new byte[] {(byte) payload}));
  }

  @Test
  void eachOfAFewPingsIsAnswered() {
    welcome();
    wire.read(pings(16));
    assertThat(wire.written())
        .containsExactlyElementsOf(IntStream.range(0, 16).mapToObj(i -> pong(i)).toList());
  }

  @Test
  void ofManyPingsInOneReadTheFirst15AndTheLastAreAnswered() {
    welcome();
    wire.read(pings(100));
    assertThat(wire.written())
        .containsExactlyElementsOf(
            IntStream.concat(IntStream.range(0, 15), IntStream.of(99))
                .mapToObj(i -> pong(i))
                .toList());
  }

  @Test
  void aPingIsAnsweredBeforeTheMessageBehindIt() {
    welcome();
    wire.read(
        new ClientBytes()
            .frame(ClientBytes.FIN | Opcode.PING, new byte[] {7}, 5)
            .close(4999, "bye")
            .array());
    List<Object> written = wire.written();
    assertThat(written).hasSize(2);
    assertThat(written.get(0)).isEqualTo(pong(7));
    assertThat(close(written.get(1)).code()).isEqualTo(4999);
  }

  @Test
  void theLatestPingIsAnsweredWhenTheSocketHasTakenWhatIsQueued() {
    welcome();
    wire.stick();
    ByteBuf message = wire.allocator.directBuffer();
    FrameWriting.writeHeader(message, false, Opcode.BINARY, 70_000);
    connection.writeMessage(message.writeZero(70_000));
    connection.flush();
    wire.read(pings(1));
    wire.read(pings(3));
    long pending = connection.pendingBytes();
    wire.read(pings(2));
    assertThat(connection.pendingBytes()).as("nothing is queued for them").isEqualTo(pending);
    wire.unstick();
    List<Object> written = wire.written();
    assertThat(written).hasSize(2);
    assertThat(written.get(1)).isEqualTo(pong(1));
    wire.read(pings(1));
    assertThat(wire.written()).as("and the next at once").containsExactly(pong(0));
  }

  @Test
  void pingsThatTakeMoreThanATurnAreHandledInSeveral() {
    welcome();
    readMoreThanATurn();
    assertThat(wire.isReading()).as("others go first").isFalse();
    wire.pass(Duration.ofMillis(1));
    assertThat(wire.isReading()).isTrue();
    assertThat(wire.written().size()).as("16 in a turn").isBetween(2 * 16, 4 * 16);
  }
}
