package io.eventbus.server.call;

/**
 * The clients of one loop that take turns as one: connections of one user. Confined to the loop.
 */
final class FairnessGroup {
  final Object key;

  /** Connections. */
  int clients;

  /** What waits of it, in all services. */
  long queuedBytes;

  FairnessGroup(Object key) {
    this.key = key;
  }
}
