package io.eventbus.registry;

/**
 * Something that the registry is asked to change.
 *
 * <p>Commands are values: what is illegal on its face is refused by the constructor; what depends
 * on the registry's state is answered with {@link CommandResult.Refused}.
 */
public sealed interface RegistryCommand permits BusCommand, TopicCommand, RevocationCommand {
  /**
   * Returns an upper estimate of what the command occupies while it waits.
   *
   * @return bytes
   */
  int estimatedBytes();

  /**
   * Says what all buses that are not DOWN have to speak before a leader takes the command: others
   * could not apply it.
   *
   * @return a version of the links, see {@link BusDescription#protocolVersion()}
   */
  default int neededProtocol() {
    return 1;
  }
}
