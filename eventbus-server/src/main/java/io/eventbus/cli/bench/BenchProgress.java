package io.eventbus.cli.bench;

/** Is told how it goes. An implementer must not block: the clock is running. */
@FunctionalInterface
public interface BenchProgress {
  /**
   * About a second has passed.
   *
   * @param published events per second since the last call
   * @param delivered events per second since the last call, over all subscribers
   */
  void second(boolean measuring, double elapsedSeconds, double published, double delivered);
}
