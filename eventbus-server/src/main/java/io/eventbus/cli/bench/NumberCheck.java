package io.eventbus.cli.bench;

import java.util.Arrays;

/**
 * Check of the numbers 1, 2, 3 … that one subscriber gets from one publisher, in 8 KiB however many
 * there are: it remembers which of the last {@value #REMEMBERED} came. Any thread.
 */
final class NumberCheck {
  /** Distance from which a number counts as a repetition. */
  static final int REMEMBERED = 1 << 16;

  // A bit for each number, modulo the number of bits.
  private final long[] seen = new long[REMEMBERED / Long.SIZE];
  private long highest;
  private long received;
  private long doubled;
  private long reordered;

  synchronized void accept(long number) {
    received++;
    if (number > highest) {
      forget(number);
      mark(number);
      highest = number;
    } else if (highest - number >= REMEMBERED || isMarked(number)) {
      doubled++;
    } else {
      mark(number);
      reordered++;
    }
  }

  /** Clears the marks of earlier numbers from the places up to a new number. */
  private void forget(long number) {
    if (number - highest >= REMEMBERED) {
      Arrays.fill(seen, 0);
      return;
    }
    for (long n = highest + 1; n <= number; n++) {
      seen[word(n)] &= ~(1L << n);
    }
  }

  private void mark(long number) {
    seen[word(number)] |= 1L << number;
  }

  private boolean isMarked(long number) {
    return (seen[word(number)] & (1L << number)) != 0;
  }

  private static int word(long number) {
    return (int) (number % REMEMBERED) / Long.SIZE;
  }

  /** Returns how many came, those that came again included. */
  synchronized long received() {
    return received;
  }

  /** Returns how many came that had come before. */
  synchronized long doubled() {
    return doubled;
  }

  /** Returns how many came after a later one. */
  synchronized long reordered() {
    return reordered;
  }

  /** Returns how many of the numbers up to the last one sent have not come. */
  synchronized long missing(long sent) {
    return sent - (received - doubled);
  }
}
