package io.eventbus.loadtest.coordination;

/**
 * A named value as a system keeps it, or that it keeps none.
 *
 * @param version what a conditional write needs; grows with every write; negative if there is none
 *     of that name
 */
public record Register(String name, String value, long version, long writes) {
  private static final long ABSENT = -1;

  /** Tells that a system holds none of that name. */
  public static Register absent(String name) {
    return new Register(name, "", ABSENT, 0);
  }

  /**
   * Returns whether the system holds none of that name.
   *
   * @return true if nothing but the name is known
   */
  public boolean isAbsent() {
    return version < 0;
  }
}
