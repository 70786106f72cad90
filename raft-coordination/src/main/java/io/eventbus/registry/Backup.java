package io.eventbus.registry;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Objects;

/**
 * Copy of the whole registry at one moment, to be kept in a file. It is immutable and does not
 * change when the registry goes on; any thread may call any method.
 *
 * <p>Implementers: the bytes say themselves what they are and in which version, and damage to any
 * of them must be noticed when they are read.
 */
public interface Backup {
  /**
   * Describes its content.
   *
   * @return a description
   */
  Description description();

  /**
   * Writes it. It may be written any number of times, the same bytes each time.
   *
   * @param out the destination; it is flushed, not closed
   * @throws IOException if writing fails; try again elsewhere
   */
  void writeTo(OutputStream out) throws IOException;

  /**
   * Description of the content of a backup.
   *
   * @param cluster the id of the cluster that it was taken from; empty for a bus that ran alone
   * @param bus the bus that it was taken at; empty if that had none
   * @param taken the time, by the clock of that bus
   * @param version the registry's version
   * @param buses the number of buses that it knows
   * @param topics the number of topic configurations
   */
  record Description(
      String cluster, String bus, Instant taken, long version, int buses, int topics) {
    /**
     * Takes the values.
     *
     * @param cluster as above
     * @param bus as above
     * @param taken as above
     * @param version as above
     * @param buses as above
     * @param topics as above
     */
    public Description {
      Objects.requireNonNull(cluster, "cluster");
      Objects.requireNonNull(bus, "bus");
      Objects.requireNonNull(taken, "taken");
    }
  }
}
