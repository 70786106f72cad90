package io.eventbus.loadtest.coordination;

/**
 * The number that every value begins with: how often its register has been written. With it a
 * server or a check sees that a write is missing, or came twice.
 */
public final class Counter {
  private static final int DECIMAL = 10;

  private Counter() {}

  /**
   * Reads the number.
   *
   * @param value what a register holds; spaces before the number do not matter
   * @return the number; -1 if there is none
   */
  public static long of(String value) {
    int at = 0;
    while (at < value.length() && value.charAt(at) == ' ') {
      at++;
    }
    long number = -1;
    for (; at < value.length(); at++) {
      int digit = value.charAt(at) - '0';
      if (digit < 0 || digit >= DECIMAL) {
        break;
      }
      number = Math.max(0, number) * DECIMAL + digit;
    }
    return number;
  }
}
