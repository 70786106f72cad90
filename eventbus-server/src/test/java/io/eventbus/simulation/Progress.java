package io.eventbus.simulation;

/** Is told how far virtual time has come, in an experiment that takes minutes. */
@FunctionalInterface
interface Progress {
  Progress NONE = now -> {};

  /** A second or more has passed. */
  void at(long now);
}
