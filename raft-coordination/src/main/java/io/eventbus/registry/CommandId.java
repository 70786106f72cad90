package io.eventbus.registry;

import java.util.UUID;

/**
 * Unique id of a command, which makes repeating it safe.
 *
 * <p>The registry remembers the results of the last commands, not of all. The basis prevents a late
 * repetition from being applied twice all the same: a command can only have been applied after its
 * basis, so if the registry still remembers everything after the basis, it knows whether it has
 * seen the id; if it does not, it refuses the command with {@link
 * RegistryRefusalReason#ID_FORGOTTEN}.
 *
 * @param basis the version of the registry that the submitter had seen when it made the id; not
 *     negative
 * @param high the upper half of a random number
 * @param low the lower half of a random number
 */
public record CommandId(long basis, long high, long low) implements Comparable<CommandId> {
  /**
   * Checks the basis.
   *
   * @param basis as above
   * @param high as above
   * @param low as above
   * @throws IllegalArgumentException if the basis is negative
   */
  public CommandId {
    RegistryChecks.range("basis", basis, 0, Long.MAX_VALUE);
  }

  /**
   * Returns a new id; {@link Registry#newCommandId()} gives the basis too.
   *
   * @param basis the version of the newest snapshot that the submitter has seen
   * @return a unique id
   */
  public static CommandId random(long basis) {
    UUID random = UUID.randomUUID();
    return new CommandId(basis, random.getMostSignificantBits(), random.getLeastSignificantBits());
  }

  @Override
  public int compareTo(CommandId other) {
    int byBasis = Long.compare(basis, other.basis);
    if (byBasis != 0) {
      return byBasis;
    }
    int byHigh = Long.compare(high, other.high);
    return byHigh != 0 ? byHigh : Long.compare(low, other.low);
  }
}
