package io.eventbus.loadtest.coordination.run;

/**
 * What became of writes.
 *
 * @param acknowledged writes that succeeded
 * @param lost of these, how many the system does not hold
 * @param doubled writes that were carried out more than once
 */
public record Integrity(long acknowledged, long lost, long doubled) {
  /** Nothing was written. */
  public static final Integrity NONE = new Integrity(0, 0, 0);

  /**
   * Judges a register that was written with 1, 2, 3 …
   *
   * @param acknowledged the last number that was acknowledged
   * @param found the number that the system holds
   * @param writes how often the system says that it was written
   * @param uncertain whether one more write may have been carried out
   */
  static Integrity of(long acknowledged, long found, long writes, boolean uncertain) {
    long lost = Math.max(0, Math.max(acknowledged - found, acknowledged - writes));
    long allowed = acknowledged + (uncertain ? 1 : 0);
    return new Integrity(acknowledged, lost, Math.max(0, writes - allowed));
  }

  Integrity plus(Integrity other) {
    return new Integrity(
        acknowledged + other.acknowledged, lost + other.lost, doubled + other.doubled);
  }

  @Override
  public String toString() {
    return lost + "/" + doubled;
  }
}
