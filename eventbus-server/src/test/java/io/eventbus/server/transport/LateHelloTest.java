package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Echo;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.security.Authentications;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Frames between a Hello and its answer. */
class LateHelloTest {
  private static final byte[] HELLO =
      ControlFrames.encode(
          TypeCode.HELLO, new Hello("test", "test/1", "s3cret", null, Map.of(), null, null, null));
  private static final byte[] ECHO = ControlFrames.encode(TypeCode.ECHO, new Echo(7L));

  private final FakeAuthenticator authenticator = new FakeAuthenticator();
  private final Authentications authentications = new Authentications(authenticator);
  private final Wire wire = new Wire(authentications, Wire.smallQueue());
  private final long began = System.nanoTime();

  @BeforeEach
  void hello() {
    wire.connect(false, connection -> new BusHandler(wire.loop, connection, began, false, false));
    // The echo comes with it, in a message of its own.
    wire.read(new ClientBytes().binary(HELLO).binary(ECHO).array());
    assertThat(wire.written()).isEmpty();
    assertThat(wire.isReading()).isFalse();
    assertThat(wire.memory.used()).as("what waits is counted").isPositive();
  }

  @AfterEach
  void assertNoLeaks() {
    wire.assertNothingHeld();
    assertThat(authentications.waiting()).isZero();
  }

  @Test
  void continuesWithTheAnswer() {
    authenticator.last().complete(FakeAuthenticator.everything());
    List<Object> frames = wire.frames();
    assertThat(frames).hasSize(2).first().isInstanceOf(Welcome.class);
    assertThat(frames.get(1)).isEqualTo(new Echo(7L));
    assertThat(wire.isReading()).isTrue();
  }

  @Test
  void theAnswerMayComeFromAnyThread() throws Exception {
    Thread other = new Thread(() -> authenticator.last().complete(FakeAuthenticator.everything()));
    other.start();
    other.join();
    assertThat(wire.frames()).hasSize(2);
  }

  @Test
  void theDeadlineOfHelloGoesOn() {
    long longest = wire.config.timeouts().hello().toNanos();
    wire.tick(began + longest);
    wire.tick(began + longest + 1);
    List<Object> frames = wire.frames();
    assertThat(frames)
        .containsExactly(
            new Wire.Close(
                CloseReason.IDLE.code(), "no answer to Hello within 5s of connecting; reconnect"));
    authenticator.last().complete(FakeAuthenticator.everything());
    assertThat(wire.frames()).isEmpty();
  }

  @Test
  void aConnectionThatEndsWaitsNoLonger() {
    wire.hangUp();
    assertThat(authenticator.last()).isCancelled();
    assertThat(authentications.waiting()).isZero();
    assertThat(wire.memory.used()).isZero();
    authenticator.last().complete(FakeAuthenticator.everything());
    assertThat(wire.frames()).isEmpty();
  }
}
