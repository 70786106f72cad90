package io.eventbus.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UnfinishedMemoryTest {
  private final BusMemory memory = new BusMemory(8_000);
  private final UnfinishedMemory pieces = memory.shortPieces();
  private final AtomicInteger pressed = new AtomicInteger();
  private final AtomicInteger retries = new AtomicInteger();
  private final List<Integer> woken = new ArrayList<>();

  @Test
  void acquiredBytesCountForTheBusUntilReleased() {
    assertThat(pieces.limit()).isEqualTo(1_000);
    assertThat(pieces.tryAcquire(600)).isTrue();
    assertThat(memory.used()).isEqualTo(600);
    pieces.release(600);
    assertThat(memory.used()).isZero();
    assertThat(pieces.used()).isZero();
  }

  @Test
  void excessBytesAreRefusedAndPress() {
    pieces.onPressure(pressed::incrementAndGet);
    assertThat(pieces.tryAcquire(600)).isTrue();
    assertThat(pieces.tryAcquire(600)).isFalse();
    assertThat(memory.used()).isEqualTo(600);
    assertThat(pressed).hasValue(1);
    pieces.whenRoom(retries::incrementAndGet);
    assertThat(pieces.isWaitedFor()).isTrue();
    assertThat(retries).hasValue(0);
    pieces.press();
    assertThat(pressed).hasValue(3);
    pieces.release(600);
    assertThat(retries).hasValue(1);
    assertThat(pieces.isWaitedFor()).isFalse();
    pieces.press();
    assertThat(pressed).as("nobody waits").hasValue(3);
  }

  @Test
  void noMoreAreWokenThanHaveRoom() {
    assertThat(pieces.tryAcquire(1_000)).isTrue();
    assertThat(pieces.tryAcquire(100)).isFalse();
    for (int i = 0; i < 1_000; i++) {
      int number = i;
      pieces.whenRoom(() -> woken.add(number));
    }
    pieces.release(10);
    assertThat(woken).as("it may want less").containsExactly(0);
    pieces.release(290);
    assertThat(woken).containsExactly(0, 1, 2, 3);
    pieces.press();
    assertThat(woken).as("in case one of them has gone").hasSize(7);
    pieces.release(700);
    assertThat(woken).hasSize(17);
  }

  @Test
  void aSingleMessageMayAlwaysBePutTogether() {
    assertThat(pieces.tryAcquire(5_000)).isTrue();
    assertThat(pieces.tryAcquire(1)).isFalse();
    assertThat(pieces.tryAcquire(2_000, 5_000)).as("the same one").isTrue();
    pieces.release(7_000);
    assertThat(pieces.tryAcquire(600)).isTrue();
    assertThat(pieces.tryAcquire(300)).isTrue();
    assertThat(pieces.tryAcquire(200, 600)).as("another has some").isFalse();
    pieces.release(900);
    assertThat(pieces.tryAcquire(1)).isTrue();
  }

  /** Hundreds of messages of 30 KB that wait for their turns are a crowd of larger ones. */
  @Test
  void largerMessagesLeaveRoomForSmallOnes() {
    UnfinishedMemory room = new BusMemory(640_000).shortPieces();
    assertThat(room.limit()).isEqualTo(80_000);
    assertThat(room.tryAcquire(60_000)).isTrue();
    assertThat(room.tryAcquire(20_000)).isFalse();
    room.whenRoom(retries::incrementAndGet);
    assertThat(room.isShort()).as("room has to be made").isTrue();
    assertThat(room.tryAcquire(10_000)).isTrue();
    assertThat(room.tryAcquire(4_000)).isTrue();
    assertThat(room.tryAcquire(1_000, 4_000)).as("no longer small").isFalse();
    assertThat(room.tryAcquire(4_000)).isTrue();
    assertThat(room.tryAcquire(4_000)).as("there is a bound").isFalse();
    assertThat(room.isShort()).isTrue();
    room.release(70_000);
    assertThat(room.isShort()).isFalse();
  }

  @Test
  void theOtherKindHasItsOwnRoom() {
    assertThat(pieces.tryAcquire(1_000)).isTrue();
    assertThat(memory.longPieces().tryAcquire(2_000)).isTrue();
    assertThat(memory.longPieces().tryAcquire(1)).isFalse();
  }

  @Test
  void whileTheBusIsOverItsLimitNothingIsRead() {
    pieces.onPressure(pressed::incrementAndGet);
    memory.reserve(8_001);
    assertThat(pieces.tryAcquire(1)).isFalse();
    pieces.whenRoom(retries::incrementAndGet);
    assertThat(pressed).as("it is not for pieces that there is no room").hasValue(0);
    memory.release(8_001);
    assertThat(retries).hasValue(1);
    assertThat(pieces.tryAcquire(1)).isTrue();
  }
}
