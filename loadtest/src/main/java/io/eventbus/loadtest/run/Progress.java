package io.eventbus.loadtest.run;

/** Is told how a run goes. An implementer must not block: the clock is running. */
@FunctionalInterface
public interface Progress {
  /** Nobody wants to know. */
  Progress NONE = (phase, elapsedSeconds, published, delivered) -> {};

  /**
   * About a second has passed.
   *
   * @param published events in the last second
   * @param delivered events in the last second, over all subscribers
   */
  void second(Phase phase, double elapsedSeconds, double published, double delivered);

  /** The phases of a run, in their order. */
  enum Phase {
    /** Events flow and nothing is recorded. */
    WARM_UP,
    /** The measured part. */
    MEASURE,
    /** Publishers have stopped; what is in flight arrives. */
    DRAIN
  }
}
