package io.eventbus.registry.codec;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.schema.BatchData;
import io.eventbus.registry.schema.CommandData;
import io.eventbus.registry.schema.ResultData;
import io.eventbus.registry.state.TimedCommand;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Codec for commands and results as bytes.
 *
 * <p>Reading uses the buffer from its position to its limit, leaves it as it was, and takes no more
 * memory than a small multiple of it; the caller bounds the buffer. Any thread may call any method.
 */
public final class RegistryCodec {
  /** Maximum number of commands in one entry of the log. */
  public static final int MAX_BATCH = 4_096;

  private RegistryCodec() {}

  /**
   * Encodes one entry of the log.
   *
   * @param commands at most {@link #MAX_BATCH} commands, in order; none for an entry that only
   *     shows which bus leads
   * @return the bytes
   * @throws IllegalArgumentException if there are too many commands
   */
  public static byte[] encodeBatch(List<TimedCommand> commands) {
    if (commands.size() > MAX_BATCH) {
      throw new IllegalArgumentException(
          "commands: " + commands.size() + " (expected: at most " + MAX_BATCH + ")");
    }
    List<CommandData> data = new ArrayList<>(commands.size());
    int format = Formats.FIRST;
    for (TimedCommand command : commands) {
      data.add(Commands.data(command));
      format = Math.max(format, Commands.format(command.command()));
    }
    return Formats.get().encode(format, new BatchData(data));
  }

  /**
   * Decodes an entry of the log.
   *
   * @param bytes the bytes
   * @return the commands, in order
   * @throws RegistryFormatException if the bytes are no such entry
   */
  public static List<TimedCommand> decodeBatch(ByteBuffer bytes) throws RegistryFormatException {
    List<CommandData> data =
        Formats.get().decode(bytes, BatchData.getClassSchema(), BatchData.class).getCommands();
    if (data.size() > MAX_BATCH) {
      throw new RegistryFormatException(
          "commands: " + data.size() + " (expected: at most " + MAX_BATCH + ")");
    }
    List<TimedCommand> commands = new ArrayList<>(data.size());
    for (CommandData command : data) {
      commands.add(checked(() -> Commands.value(command)));
    }
    return commands;
  }

  /**
   * Encodes a command on its way to the leader, which gives it its time.
   *
   * @return the bytes
   */
  public static byte[] encodeCommand(CommandId id, RegistryCommand command) {
    return Formats.get()
        .encode(Commands.format(command), Commands.data(new TimedCommand(id, 0, command)));
  }

  /**
   * Decodes a command on its way to the leader.
   *
   * @param bytes the bytes
   * @return the command, with the time 0
   * @throws RegistryFormatException if the bytes are no command
   */
  public static TimedCommand decodeCommand(ByteBuffer bytes) throws RegistryFormatException {
    CommandData data = Formats.get().decode(bytes, CommandData.getClassSchema(), CommandData.class);
    return checked(() -> Commands.value(data));
  }

  /**
   * Encodes a result.
   *
   * @return the bytes
   */
  public static byte[] encodeResult(CommandResult result) {
    return Formats.get().encode(Results.format(result), Results.data(result));
  }

  /**
   * Decodes a result.
   *
   * @param bytes the bytes
   * @throws RegistryFormatException if the bytes are no result
   */
  public static CommandResult decodeResult(ByteBuffer bytes) throws RegistryFormatException {
    ResultData data = Formats.get().decode(bytes, ResultData.getClassSchema(), ResultData.class);
    return checked(() -> Results.value(data));
  }

  /** Maps a record; the values check themselves, and their errors become errors of the bytes. */
  static <T> T checked(Mapping<T> mapping) throws RegistryFormatException {
    try {
      return mapping.get();
    } catch (IllegalArgumentException e) {
      throw new RegistryFormatException("illegal value: " + e.getMessage(), e);
    }
  }

  /** Mapping from a record to a value. */
  interface Mapping<T> {
    T get();
  }
}
