package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class UniformRateProperties {
  @Property
  void publishersTogetherHaveEveryInstantOfTheRateOnce(
      @ForAll @LongRange(min = 1, max = 10_000_000) long perSecond,
      @ForAll @IntRange(min = 1, max = 7) int publishers,
      @ForAll @LongRange(min = -1_000_000_000_000L, max = 1_000_000_000_000L) long start) {
    List<Long> due = new ArrayList<>();
    for (int p = 0; p < publishers; p++) {
      UniformRate rate = new UniformRate(Ticker.SYSTEM, start, perSecond, publishers, p);
      for (int i = 0; i < 20; i++) {
        due.add(rate.next());
      }
    }
    due.sort(null);
    for (int n = 0; n < due.size(); n++) {
      BigInteger exact =
          BigInteger.valueOf(n)
              .multiply(BigInteger.valueOf(1_000_000_000))
              .divide(BigInteger.valueOf(perSecond));
      assertThat(due.get(n) - start).isBetween(exact.longValue() - 1, exact.longValue());
    }
  }

  @Property
  void neverEarlyAndNeverGivesTimeBack(
      @ForAll @LongRange(min = 1, max = 1_000_000) long perSecond,
      @ForAll @LongRange(min = 0, max = 10_000_000) long oversleep,
      @ForAll @LongRange(min = 0, max = 5_000_000_000L) long stall) {
    ManualTicker ticker = new ManualTicker(1000, oversleep);
    UniformRate rate = new UniformRate(ticker, 1000, perSecond, 1, 0);
    for (int n = 0; n < 50; n++) {
      if (n == 25) {
        ticker.advance(stall);
      }
      long due = rate.next();
      // However late it is, the event is due when it was due.
      assertThat(due).isEqualTo(1000 + n * 1_000_000_000L / perSecond);
      long before = ticker.nanoTime();
      rate.await(due);
      assertThat(ticker.nanoTime()).isGreaterThanOrEqualTo(due);
      if (before >= due) {
        assertThat(ticker.nanoTime()).as("does not wait when late").isEqualTo(before);
      } else {
        assertThat(ticker.nanoTime()).isEqualTo(due + oversleep);
      }
    }
  }

  @Example
  void staysExactAfterAWeek() {
    long week = 7L * 24 * 3600;
    UniformRate rate = new UniformRate(Ticker.SYSTEM, 0, 1_000_003, Integer.MAX_VALUE, 0);
    long due = 0;
    long n = 0;
    while (due < week * 1_000_000_000L) {
      due = rate.next();
      long exact =
          BigInteger.valueOf(n)
              .multiply(BigInteger.valueOf(1_000_000_000))
              .divide(BigInteger.valueOf(1_000_003))
              .longValueExact();
      assertThat(due).isEqualTo(exact);
      n += Integer.MAX_VALUE;
    }
  }
}
