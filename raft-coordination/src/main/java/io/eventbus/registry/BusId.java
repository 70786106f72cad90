package io.eventbus.registry;

/**
 * Name of a bus, the same over all its restarts.
 *
 * @param value 1 to 64 characters: letters, digits, '.', '_' and '-', the first a letter or a digit
 */
public record BusId(String value) implements Comparable<BusId> {
  /**
   * Checks the name.
   *
   * @param value as above
   * @throws IllegalArgumentException if the name is illegal, saying why
   */
  public BusId {
    RegistryChecks.name("busId", value);
  }

  @Override
  public int compareTo(BusId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
