package io.eventbus.loadtest.coordination;

import java.util.concurrent.CompletableFuture;

/**
 * A client with a connection of its own. Any thread may call any method; no two of them write the
 * same register at a time, {@link #replace} apart.
 *
 * <p>What goes wrong is a {@link CoordinationException}; the caller repeats a {@link Put} until it
 * is done.
 */
public interface CoordinationClient extends AutoCloseable {
  /**
   * Makes a register; there is none of that name.
   *
   * @param register its name
   * @param value its first value
   */
  void create(String register, String value);

  /**
   * Writes a register and waits, in the way that the system's own client does it.
   *
   * @param put what to write where; the same object again to repeat it
   */
  void write(Put put);

  /**
   * Writes a register.
   *
   * @param put what to write where; the same object again to repeat it
   * @return a future that completes on any thread
   */
  CompletableFuture<Void> writeLater(Put put);

  /**
   * Reads what the server that this client talks to knows; it may be behind.
   *
   * @param register its name
   * @return the register
   */
  Register read(String register);

  /**
   * Reads with everything that was acknowledged before.
   *
   * @param register its name
   * @return the register
   */
  Register readNewest(String register);

  /**
   * Writes a register if nobody has done so since it was read.
   *
   * @param read the register as it was read
   * @param value the new value
   * @return false if somebody has
   */
  boolean replace(Register read, String value);

  @Override
  void close();
}
