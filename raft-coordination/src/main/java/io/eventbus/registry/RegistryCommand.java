package io.eventbus.registry;

/**
 * Change that the registry is asked to make.
 *
 * <p>Commands are values: those that are illegal on their face are refused by the constructor;
 * those that the registry's state forbids are answered with {@link CommandResult.Refused}.
 */
public sealed interface RegistryCommand
    permits BusCommand, TopicCommand, RevocationCommand, ShardCommand {
  /**
   * Returns an upper estimate of the memory that the command occupies while it waits.
   *
   * @return bytes
   */
  int estimatedBytes();

  /**
   * Returns the version that all buses that are not DOWN have to speak before a leader accepts the
   * command: others could not apply it.
   *
   * @return a version of the links, see {@link BusDescription#protocolVersion()}
   */
  default int neededProtocol() {
    return 1;
  }
}
