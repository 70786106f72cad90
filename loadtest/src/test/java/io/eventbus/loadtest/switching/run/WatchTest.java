package io.eventbus.loadtest.switching.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.EventMark;
import io.eventbus.loadtest.run.Integrity;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WatchTest {
  private static final int BYTES = 32;
  private static final long INTERVAL = 10;

  private final AtomicLong clock = new AtomicLong(1_000);
  private final MoveLatencies latencies = new MoveLatencies();
  private final Watch watch = watch(false);

  private static boolean all(int publisher) {
    return publisher >= 0;
  }

  private Watch watch(boolean late) {
    return new Watch(clock::get, 0, BYTES, late, latencies);
  }

  private void event(Watch to, int publisher, long number, long at) {
    byte[] payload = new byte[BYTES];
    EventMark.write(payload, publisher, publisher, number, at);
    clock.set(at);
    to.onEvent(ByteBuffer.wrap(payload));
  }

  private void event(int publisher, long number, long at) {
    event(watch, publisher, number, at);
  }

  @Test
  void aPauseIsTheLongestGapLessTheInterval() {
    event(0, 1, 1_000);
    event(0, 2, 1_010);
    event(0, 3, 1_060);
    event(0, 4, 1_070);
    assertThat(watch.pause(WatchTest::all, 1, INTERVAL)).isEqualTo(40);
    assertThat(watch.resumedAt(WatchTest::all, 1)).isEqualTo(1_060);
  }

  @Test
  void evenDeliveriesAreNoPause() {
    event(0, 1, 1_000);
    event(0, 2, 1_010);
    assertThat(watch.pause(WatchTest::all, 1, INTERVAL)).isZero();
  }

  @Test
  void aWindowForgetsGapsBeforeItButNotTheOneItBeginsIn() {
    event(0, 1, 1_000);
    event(0, 2, 1_500);
    clock.set(1_520);
    watch.begin();
    event(0, 3, 1_530);
    assertThat(watch.pause(WatchTest::all, 1, INTERVAL)).isEqualTo(20);
  }

  @Test
  void aStreamThatHasNotComeBackIsAPause() {
    event(0, 1, 1_000);
    watch.begin();
    clock.set(1_110);
    assertThat(watch.pause(WatchTest::all, 1, INTERVAL)).isEqualTo(100);
    assertThat(watch.resumedAt(WatchTest::all, 1)).isZero();
  }

  @Test
  void eachPublisherHasPausesOfItsOwn() {
    event(0, 1, 1_000);
    event(1, 1, 1_005);
    event(0, 2, 1_010);
    event(1, 2, 1_055);
    event(0, 3, 1_060);
    assertThat(watch.pause(p -> p == 0, 2, INTERVAL)).isEqualTo(40);
    assertThat(watch.pause(p -> p == 1, 2, INTERVAL)).isEqualTo(40);
    assertThat(watch.heardSince(1_050, p -> p == 1, 2)).isTrue();
    assertThat(watch.heardSince(1_056, WatchTest::all, 2)).isFalse();
  }

  @Test
  void aStreamThatNeverCameIsNotHeardAndIsAPause() {
    clock.set(1_100);
    assertThat(watch.heardSince(1_000, WatchTest::all, 1)).isFalse();
    assertThat(watch.pause(WatchTest::all, 1, INTERVAL)).isEqualTo(90);
    event(0, 1, 1_100);
    assertThat(watch.heardSince(1_000, WatchTest::all, 1)).isTrue();
    assertThat(watch.heardSince(1_000, WatchTest::all, 2)).isFalse();
    event(0, 2, 1_120);
    assertThat(watch.resumedAt(WatchTest::all, 2)).isZero();
    watch.begin();
    clock.set(1_150);
    assertThat(watch.pause(p -> p == 1, 2, INTERVAL)).isEqualTo(20);
  }

  @Test
  void whatIsMissingDoubledAndLateIsCounted() {
    event(0, 1, 1_000);
    event(0, 3, 1_010);
    event(0, 2, 1_020);
    event(0, 2, 1_030);
    event(0, 6, 1_040);
    event(1, 2, 1_040);
    watch.onEvent(ByteBuffer.allocate(BYTES + 1));
    assertThat(watch.integrity(p -> p == 0)).isEqualTo(new Integrity(2, 1, 1, 1));
    assertThat(watch.integrity(WatchTest::all)).isEqualTo(new Integrity(3, 1, 1, 1));
    assertThat(watch.tail(WatchTest::all, p -> 7, 2)).isEqualTo(1 + 5);
  }

  @Test
  void whoComesLateBeginsWithWhatComesFirst() {
    Watch late = watch(true);
    event(late, 0, 41, 1_000);
    event(late, 0, 42, 1_010);
    assertThat(late.integrity(WatchTest::all)).isEqualTo(Integrity.WHOLE);
    event(late, 0, 44, 1_020);
    assertThat(late.integrity(WatchTest::all)).isEqualTo(new Integrity(1, 0, 0, 0));
  }

  @Test
  void latencyGoesToWhatIsGoingOn() {
    latencies.enter(MoveLatencies.Phase.DURING);
    byte[] payload = new byte[BYTES];
    EventMark.write(payload, 0, 0, 1, 1_000);
    clock.set(6_000);
    watch.onEvent(ByteBuffer.wrap(payload));
    assertThat(latencies.summary(MoveLatencies.Phase.DURING).max()).isBetween(5.0, 5.01);
    assertThat(latencies.summary(MoveLatencies.Phase.AFTER).count()).isZero();
  }
}
