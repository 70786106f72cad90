package io.eventbus.loadtest.coordination.run;

/**
 * What became of writes.
 *
 * @param lost of these, how many the system does not hold
 */
public record CoordinationIntegrity(long acknowledged, long lost, long doubled, long foreign) {
  /** Nothing was written. */
  public static final CoordinationIntegrity NONE = new CoordinationIntegrity(0, 0, 0, 0);

  /**
   * Judges a register that was written with 1, 2, 3 …
   *
   * @param uncertain how many more writes may have been carried out
   */
  static CoordinationIntegrity of(long acknowledged, long found, long writes, long uncertain) {
    long lost = Math.max(0, Math.max(acknowledged - found, acknowledged - writes));
    return new CoordinationIntegrity(
        acknowledged, lost, Math.max(0, writes - acknowledged - uncertain), 0);
  }

  /** Judges a register that is not there any more: its creation was acknowledged, too. */
  static CoordinationIntegrity absent(long acknowledged) {
    return new CoordinationIntegrity(acknowledged, Math.max(1, acknowledged), 0, 0);
  }

  /** The same register later: what was lost or doubled once remains so. */
  CoordinationIntegrity after(CoordinationIntegrity before) {
    return new CoordinationIntegrity(
        acknowledged,
        Math.max(lost, before.lost),
        Math.max(doubled, before.doubled),
        Math.max(foreign, before.foreign));
  }

  CoordinationIntegrity plus(CoordinationIntegrity other) {
    return new CoordinationIntegrity(
        acknowledged + other.acknowledged,
        lost + other.lost,
        doubled + other.doubled,
        foreign + other.foreign);
  }

  /**
   * Says whether every acknowledged write was carried out once.
   *
   * @return true if nothing is lost, doubled or foreign
   */
  public boolean whole() {
    return lost == 0 && doubled == 0 && foreign == 0;
  }

  @Override
  public String toString() {
    return lost + "/" + doubled + "/" + foreign;
  }
}
