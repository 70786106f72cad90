package io.eventbus.registry;

/**
 * Description that a bus gives of itself when it registers.
 *
 * @param id its name
 * @param addresses its addresses
 * @param zone the place that fails together, for example a rack or a data centre: a name like a
 *     {@link BusId}
 * @param softwareVersion the version of its software, for people: 1 to 64 bytes
 * @param protocolVersion the newest version of the links between buses that it speaks, from 1
 * @param storage the generation of its data directory for durable topics, from 1; a bus that has
 *     lost its files comes back with the next one, so it is not taken for the replica that it was.
 *     0 for a bus without such a directory
 */
public record BusDescription(
    BusId id,
    BusAddresses addresses,
    String zone,
    String softwareVersion,
    int protocolVersion,
    int storage) {
  /** Version of the links between buses with {@link #storage}, and with shards. */
  public static final int STORAGE_PROTOCOL = 3;

  /**
   * Checks the description.
   *
   * @param id as above
   * @param addresses as above
   * @param zone as above
   * @param softwareVersion as above
   * @param protocolVersion as above
   * @param storage as above
   * @throws IllegalArgumentException if a value is illegal, saying which and why
   */
  public BusDescription {
    RegistryChecks.name("zone", zone);
    RegistryChecks.text("softwareVersion", softwareVersion, 1, RegistryChecks.MAX_NAME);
    RegistryChecks.range("protocolVersion", protocolVersion, 1, 65_535);
    RegistryChecks.range("storage", storage, 0, Integer.MAX_VALUE);
  }
}
