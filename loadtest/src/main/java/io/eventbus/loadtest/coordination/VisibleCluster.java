package io.eventbus.loadtest.coordination;

/** Servers that tell when they saw a change, and that more may join. For one thread. */
public interface VisibleCluster extends CoordinationCluster {
  /**
   * Times that a server took to join.
   *
   * @param inProcessMillis from when it could be called until it took part
   */
  record Joined(double inProcessMillis, double wholeMillis) {}

  /** Starts one more server and waits until it takes part. */
  Joined join();

  /** Returns the register whose changes are timed. */
  String timedRegister();

  /**
   * Returns when a server saw the changes of {@link #timedRegister()}.
   *
   * @param server its number from 0
   * @return times of {@link System#nanoTime()}, which all processes of a machine share
   */
  long[] seen(int server);
}
