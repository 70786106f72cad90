package io.eventbus.cli.bench;

/** Listener for the progress. It must not block: the clock is running. */
@FunctionalInterface
public interface BenchProgress {
  /**
   * Reports about a second.
   *
   * @param published events per second since the last call
   * @param delivered events per second since the last call, over all subscribers
   */
  void second(boolean measuring, double elapsedSeconds, double published, double delivered);
}
