package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenBucketTest {
  private static final long SECOND = 1_000_000_000;
  // The clock overflows a little later, as the JVM's may.
  private static final long START = Long.parseLong("9223372033854775807");

  private static TokenBucket bucket(long rate) {
    TokenBucket bucket = new TokenBucket(START);
    bucket.limit(rate);
    return bucket;
  }

  /** Takes whenever something is there; returns the sum. */
  private static long taken(TokenBucket bucket, long amount, long seconds) {
    long taken = 0;
    long now = START;
    while (now - START < seconds * SECOND) {
      long wait = bucket.waitNanos(now);
      if (wait > 0) {
        now += wait;
      } else {
        bucket.take(amount, now);
        taken += amount;
      }
    }
    return taken;
  }

  @ParameterizedTest
  @CsvSource({"1,1", "7,1", "1000,1", "1000,333", "1000,5000", "30,100", "1000000,128", "99991,97"})
  void takesAtItsRateWhateverTheSizes(long rate, long amount) {
    long seconds = 200;
    // The initial content, and the overdraft of the last one.
    long max = rate * (seconds + 1) + amount;
    assertThat(taken(bucket(rate), amount, seconds)).isBetween(rate * seconds, max);
  }

  @Test
  void noLimitNeverWaits() {
    TokenBucket bucket = bucket(0);
    bucket.take(Integer.MAX_VALUE, START);
    assertThat(bucket.waitNanos(START)).isZero();
    assertThat(bucket.isFull(START)).isTrue();
  }

  @Test
  void holdsNoMoreThanASecond() {
    TokenBucket bucket = bucket(10);
    long later = START + 3600 * SECOND;
    int taken = 0;
    while (bucket.waitNanos(later) == 0) {
      bucket.take(1, later);
      taken++;
    }
    assertThat(taken).isEqualTo(10);
    assertThat(bucket.waitNanos(later)).isEqualTo(1);
    bucket.take(1, later);
    assertThat(bucket.waitNanos(later)).isEqualTo(SECOND / 10 + 1);
  }

  @ParameterizedTest
  @CsvSource({"1,10", "3,30", "7,70", "30,300", "1000,10000"})
  void aBurstIsSoManyAtOnce(long rate, long burst) {
    TokenBucket bucket = TokenBucket.ofBurst(rate, burst, START);
    long taken = 0;
    while (bucket.waitNanos(START) == 0) {
      bucket.take(1, START);
      taken++;
    }
    assertThat(taken).isEqualTo(burst);
    long each = (SECOND + rate - 1) / rate;
    assertThat(bucket.waitNanos(START)).isEqualTo(each);
    assertThat(bucket.isFull(START + burst * each - 1)).isFalse();
    assertThat(bucket.isFull(START + burst * each)).isTrue();
  }

  @Test
  void aHugeAmountCostsTenSeconds() {
    TokenBucket bucket = bucket(1);
    bucket.take(Long.MAX_VALUE, START);
    assertThat(bucket.waitNanos(START)).isEqualTo(10 * SECOND + 1);
    bucket.take(1_000_000, START);
    assertThat(bucket.waitNanos(START)).isEqualTo(10 * SECOND + 1);
    assertThat(bucket.isFull(START + 10 * SECOND)).isFalse();
    assertThat(bucket.isFull(START + 11 * SECOND)).isTrue();
  }

  @Test
  void anotherRateHoldsAtOnce() {
    TokenBucket bucket = bucket(10);
    bucket.limit(1000);
    assertThat(taken(bucket, 1, 10)).isBetween(10_000L, 11_001L);
  }

  @Test
  void severalLoopsTakeNoMoreTogether() throws Exception {
    TokenBucket bucket = bucket(1_000_000_000);
    AtomicLong taken = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < 100_000; n++) {
                  bucket.take(1_000, START);
                  taken.addAndGet(1_000);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    // 0.4 s of a full second at one moment: each one counts.
    assertThat(taken.get()).isEqualTo(400_000_000);
    assertThat(bucket.isFull(START + 399_999_999)).isFalse();
    assertThat(bucket.isFull(START + 400_000_000)).isTrue();
  }
}
