package io.eventbus.loadtest.attack.hostile;

/** Names that all have the same {@link String#hashCode}, or as many that do not. */
final class OneHash {
  private static final int BITS = 17;

  private OneHash() {}

  /** Makes the name of a number, below 131,072. */
  static String name(int number, boolean collides) {
    if (!collides) {
      return "n" + number + "x".repeat(2 * BITS);
    }
    StringBuilder name = new StringBuilder();
    for (int bit = 0; bit < BITS; bit++) {
      // The two have one hash, and so has everything that is made of them.
      name.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return name.toString();
  }
}
