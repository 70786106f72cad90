package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PublishRoomTest {
  private final PublishRoom room = new PublishRoom();
  private final AtomicInteger retries = new AtomicInteger();

  private boolean acquire(String address, int size) {
    return room.acquire(address, size, retries::incrementAndGet);
  }

  private int fill(String address, int size) {
    int frames = 0;
    while (acquire(address, size)) {
      frames++;
    }
    return frames;
  }

  @Test
  void anAddressLeavesAsMuchAsItUses() {
    assertThat(fill("flood", 1)).isEqualTo(PublishRoom.MAX_FRAMES / 2);
    assertThat(fill("other", 1)).isEqualTo(PublishRoom.MAX_FRAMES / 4);
    assertThat(acquire("late", 1)).isTrue();
  }

  @Test
  void bytesCountAsWellAsFrames() {
    assertThat(fill("flood", 1 << 20)).isEqualTo(4);
    assertThat(acquire("other", 1 << 20)).isTrue();
    assertThat(acquire("largest", (int) PublishRoom.MAX_BYTES)).as("one fits always").isTrue();
    assertThat(acquire("largest", 1)).isFalse();
  }

  @Test
  void thoseThatWaitGoOnWhenHalfOfItIsFree() {
    int frames = fill("flood", 1);
    int released = 0;
    while (retries.get() == 0) {
      room.release("flood", 1);
      released++;
    }
    assertThat(released).isBetween(frames / 4, frames / 2);
    assertThat(acquire("flood", 1)).isTrue();
    for (int left = frames - released + 1; left > 0; left--) {
      room.release("flood", 1);
    }
    assertThat(retries).hasValue(1);
    assertThat(room.frames()).isZero();
  }

  @Test
  void whoHasNothingLeftGoesOnWhateverOthersUse() {
    int unused = fill("flood", 1);
    assertThat(acquire("other", (int) PublishRoom.MAX_BYTES)).isTrue();
    assertThat(acquire("other", 1)).isFalse();
    int before = retries.get();
    room.release("other", (int) PublishRoom.MAX_BYTES);
    assertThat(retries).hasValue(before + 1);
  }
}
