package io.eventbus.server.federation.lane;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * What a federation takes from outside and does not decide itself, so that a simulation can give
 * others.
 *
 * @param nanoTime as {@link System#nanoTime}; any thread
 */
public record ClockAndRandom(LongSupplier nanoTime, Supplier<RandomGenerator> random) {
  public static final ClockAndRandom REAL =
      new ClockAndRandom(System::nanoTime, ThreadLocalRandom::current);
}
