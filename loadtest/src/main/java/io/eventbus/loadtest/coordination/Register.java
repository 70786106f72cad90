package io.eventbus.loadtest.coordination;

/**
 * A named value as a system keeps it, or that it keeps none.
 *
 * @param name its name
 * @param value the value; it begins with a {@link Counter}
 * @param version what a conditional write needs; grows with every write; negative if there is none
 *     of that name
 * @param writes how often it was written since it was created, as the system shows it
 */
public record Register(String name, String value, long version, long writes) {
  private static final long ABSENT = -1;

  /**
   * Tells that a system holds none of that name.
   *
   * @param name what was asked for
   * @return a register without a value
   */
  public static Register absent(String name) {
    return new Register(name, "", ABSENT, 0);
  }

  /**
   * Says whether the system holds none of that name.
   *
   * @return true if nothing but the name is known
   */
  public boolean isAbsent() {
    return version < 0;
  }
}
