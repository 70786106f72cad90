package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.CloseReason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Wake-ups of a connection, and its turns. */
class InboundTurnsTest {
  /** Handler that takes nothing of its first message until it may. */
  private static final class Reluctant extends InboundOnly {
    final List<String> calls = new ArrayList<>();
    @Nullable Runnable retry;
    boolean willing;
    @Nullable Error failure;

    @Override
    public boolean acceptsText() {
      return false;
    }

    @Override
    public int onMessage(
        ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable again) {
      calls.add(Thread.currentThread().getName());
      retry = again;
      if (failure != null) {
        throw failure;
      }
      return willing ? to : from;
    }

    void wake() {
      Runnable again = retry;
      if (again == null) {
        throw new AssertionError("nothing waits");
      }
      again.run();
    }
  }

  private final Wire wire = new Wire();
  private final Reluctant handler = new Reluctant();

  private void begin() {
    wire.connect(false, c -> handler);
    wire.freezeTime();
    wire.read(new ClientBytes().binary(new byte[] {1, 2, 3}).array());
    assertThat(handler.calls).hasSize(1);
    handler.willing = true;
  }

  /**
   * The wake-up may come in the middle of another connection's frame, and use the loop's scratch
   * state.
   */
  @Test
  void doesNotContinueInTheTurnOfAnother() {
    begin();
    List<Integer> within = new ArrayList<>();
    wire.loop.nextTurn(
        "a",
        () -> {
          handler.wake();
          within.add(handler.calls.size());
        });
    wire.pass(Duration.ofMillis(1));
    assertThat(within).containsExactly(1);
    assertThat(handler.calls).hasSize(2);
    assertThat(wire.isReading()).isTrue();
  }

  @Test
  void wokenByAnotherThreadItGoesOnOnItsOwn() throws InterruptedException {
    begin();
    Thread other = new Thread(handler::wake, "another");
    // A turn is going on meanwhile.
    wire.loop.nextTurn(
        "a",
        () -> {
          other.start();
          try {
            other.join();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    wire.pass(Duration.ofMillis(1));
    assertThat(handler.calls).hasSize(2).doesNotContain("another");
  }

  /** Otherwise it is lost: reading would be off until the client gives up. */
  @Test
  void anErrorInItsTurnEndsIt() {
    begin();
    handler.failure = new LinkageError("expected by this test");
    handler.wake();
    wire.pass(Duration.ofMillis(1));
    assertThat(wire.written())
        .hasSize(1)
        .first()
        .isInstanceOfSatisfying(
            Wire.Close.class,
            close -> assertThat(close.code()).isEqualTo(CloseReason.INTERNAL_ERROR.code()));
    wire.assertNothingHeld();
  }

  /** Otherwise each wake-up would take a further place in the ring of turns. */
  @Test
  void aWaitingTurnHasOnePlace() {
    begin();
    handler.willing = false;
    WebSocketConnection connection = wire.connection();
    connection.nextTurn();
    connection.nextTurn();
    handler.wake();
    handler.wake();
    wire.run();
    assertThat(handler.calls).as("not before its turn").hasSize(1);
    wire.pass(Duration.ofMillis(1));
    assertThat(handler.calls).hasSize(2);
  }
}
