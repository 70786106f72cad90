package io.eventbus.loadtest.switching;

import java.time.Duration;

/**
 * The buses of one cluster, each a process of its own. For one thread.
 *
 * <p>Every method throws {@link io.eventbus.loadtest.driver.DriverException} if the buses do not do
 * what is asked, or not in time.
 */
public interface Buses extends AutoCloseable {
  /**
   * Connects a client.
   *
   * @param bus number of the bus, from 0
   */
  Client connect(String name, int bus);

  /**
   * Has an operator ask for one client to be sent on; returns when its bus has asked it.
   *
   * @param from where it is
   * @param to where it is to go
   */
  void move(String client, int from, int to);

  /**
   * Has a bus send all its clients away, or take clients again; returns when its bus has begun, or
   * all buses know that it takes clients.
   */
  void drain(int bus, boolean on);

  /** Sends SIGTERM, and waits until the process has ended. */
  void stop(int bus, Duration timeout);

  /** Sends SIGKILL. */
  void kill(int bus);

  /**
   * Starts a bus that has ended with the same ports and directory, and waits until it is linked
   * with all others.
   */
  void start(int bus);

  /** Closes all clients, and kills the processes. */
  @Override
  void close();
}
