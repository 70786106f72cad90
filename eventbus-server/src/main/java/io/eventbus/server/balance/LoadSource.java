package io.eventbus.server.balance;

import io.eventbus.server.balance.decision.LoadFigures;

/** Where the load of a bus comes from: called by one thread. It must not block and not throw. */
@FunctionalInterface
public interface LoadSource {
  /** Measures. */
  LoadFigures read();
}
