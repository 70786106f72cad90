package io.eventbus.registry.faults;

import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The topics that clients fight for: a few at a time, each for a bounded number of operations, so
 * that its history can be checked.
 */
final class Topics {
  private static final int AT_A_TIME = 4;
  private static final int OPERATIONS = 70;

  private final AtomicIntegerArray used = new AtomicIntegerArray(AT_A_TIME);

  String next(Random random) {
    int slot = random.nextInt(AT_A_TIME);
    int count = used.getAndIncrement(slot);
    return "t." + slot + "." + count / OPERATIONS;
  }
}
