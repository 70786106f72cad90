package io.eventbus.simulation;

/** Listener for virtual time in an experiment that takes minutes. */
@FunctionalInterface
interface Progress {
  Progress NONE = now -> {};

  /** Reports that a second or more has passed. */
  void at(long now);
}
