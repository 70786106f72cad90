package io.eventbus.server.federation.lane;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Clock and randomness of a federation, replaced by simulations.
 *
 * @param nanoTime clock such as {@link System#nanoTime}; any thread
 */
public record ClockAndRandom(LongSupplier nanoTime, Supplier<RandomGenerator> random) {
  public static final ClockAndRandom REAL =
      new ClockAndRandom(System::nanoTime, ThreadLocalRandom::current);
}
