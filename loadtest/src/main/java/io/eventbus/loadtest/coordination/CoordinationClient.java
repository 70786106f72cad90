package io.eventbus.loadtest.coordination;

import java.time.Duration;

/**
 * A client with a connection of its own. Any thread may call any method; no two of them write the
 * same register at a time, {@link #replace} apart.
 *
 * <p>What goes wrong is a {@link CoordinationException}; the caller repeats a {@link Put} until it
 * is done.
 */
public interface CoordinationClient extends AutoCloseable {
  /**
   * The longest time that {@link #write}, {@link #replace} and the reads of every system may take.
   * A client that asks one server after the other does it within that time.
   */
  Duration DEADLINE = Duration.ofSeconds(2);

  /**
   * Makes a register; it does no harm to repeat it until it is done. It is not measured and may
   * take longer than the others.
   */
  void create(String register, String value);

  /**
   * Writes a register and waits, in the way that the system's own client does it.
   *
   * @param put what to write where; the same object again to repeat it
   */
  void write(Put put);

  /** Reads what the server that this client talks to knows; it may be behind. */
  Register read(String register);

  /** Reads with everything that was acknowledged before. */
  Register readNewest(String register);

  /**
   * Writes a register if nobody has done so since it was read.
   *
   * @param read the register as it was read, not absent
   * @return false if somebody has
   */
  boolean replace(Register read, String value);

  @Override
  void close();
}
