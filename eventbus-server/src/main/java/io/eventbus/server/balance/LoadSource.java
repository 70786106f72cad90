package io.eventbus.server.balance;

import io.eventbus.server.balance.decision.LoadFigures;

/** Source of a bus's load: called by one thread. It must not block and not throw. */
@FunctionalInterface
public interface LoadSource {
  /** Measures the load. */
  LoadFigures read();
}
