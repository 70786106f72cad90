package io.eventbus.registry.state;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.TopicConfig;
import java.util.List;
import java.util.Objects;

/**
 * A {@link RegistryState} as plain lists: what is written to a snapshot, and read back from it.
 *
 * @param limits how much the registry may hold
 * @param version the version
 * @param timeMillis the registry's time in milliseconds
 * @param nextNumber the number for the next life of a bus
 * @param buses all buses
 * @param topics all topic configurations
 * @param revocations all revocations
 * @param young the remembered results of the young generation
 * @param old the remembered results of the old generation
 * @param forgottenUpTo the newest version whose command's result may be forgotten
 * @param oldUpTo the version of the last command in the old generation
 */
public record RegistryImage(
    RegistryLimits limits,
    long version,
    long timeMillis,
    long nextNumber,
    List<BusInfo> buses,
    List<TopicConfig> topics,
    List<Revocation> revocations,
    List<Remembered> young,
    List<Remembered> old,
    long forgottenUpTo,
    long oldUpTo) {

  /**
   * Copies the lists.
   *
   * @param limits as above
   * @param version as above
   * @param timeMillis as above
   * @param nextNumber as above
   * @param buses as above
   * @param topics as above
   * @param revocations as above
   * @param young as above
   * @param old as above
   * @param forgottenUpTo as above
   * @param oldUpTo as above
   */
  public RegistryImage {
    Objects.requireNonNull(limits, "limits");
    buses = List.copyOf(buses);
    topics = List.copyOf(topics);
    revocations = List.copyOf(revocations);
    young = List.copyOf(young);
    old = List.copyOf(old);
  }

  /**
   * The result of a command that may be repeated.
   *
   * @param id the command's id
   * @param result its first result
   */
  public record Remembered(CommandId id, CommandResult result) {
    /**
     * Takes the values.
     *
     * @param id as above
     * @param result as above
     */
    public Remembered {
      Objects.requireNonNull(id, "id");
      Objects.requireNonNull(result, "result");
    }
  }
}
