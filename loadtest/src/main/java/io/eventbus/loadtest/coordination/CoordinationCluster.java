package io.eventbus.loadtest.coordination;

import io.eventbus.loadtest.workload.Registers.Placement;
import java.util.List;

/** Running servers. For one thread, which may wait in any method. */
public interface CoordinationCluster extends AutoCloseable {
  /** Returns how many servers there are. */
  int servers();

  /** Returns the processes. */
  List<Long> pids();

  /**
   * Finds the leader.
   *
   * @return its number from 0, -1 if none is known
   */
  int leader();

  /** Returns how often the leader has changed, as the servers count it. */
  long term();

  /**
   * Kills a server with SIGKILL.
   *
   * @param server its number from 0
   */
  void kill(int server);

  /**
   * Starts a server that was killed again, with its data, and does not wait for it.
   *
   * @param server its number from 0
   */
  void restart(int server);

  /**
   * Waits until every server runs and takes part.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  void awaitWhole() throws InterruptedException;

  /**
   * Connects a client, over a connection of its own.
   *
   * @param number of the client, from 0
   */
  CoordinationClient connect(int number, Placement placement);

  /** Ends the clients and the servers. */
  @Override
  void close();
}
