package io.eventbus.registry;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Objects;

/**
 * The whole registry at one moment, to be kept in a file. It is immutable and does not change when
 * the registry goes on; any thread may call any method.
 *
 * <p>Implementers: what is written says itself what it is and in which version, and damage to any
 * of its bytes must be noticed when it is read.
 */
public interface Backup {
  /**
   * Says what is in it.
   *
   * @return a description
   */
  Description description();

  /**
   * Writes it. It may be written any number of times, the same bytes each time.
   *
   * @param out where to; it is flushed, not closed
   * @throws IOException if writing fails; try again elsewhere
   */
  void writeTo(OutputStream out) throws IOException;

  /**
   * What is in a backup.
   *
   * @param cluster the id of the cluster that it was taken from; empty for a bus that ran alone
   * @param bus the bus that it was taken at; empty if that had none
   * @param taken when, by the clock of that bus
   * @param version the registry's version
   * @param buses how many buses it knows
   * @param topics how many topic configurations it holds
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
