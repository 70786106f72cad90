package io.eventbus.server.call;

/**
 * The clients of one loop that take turns as one: connections of one user. Confined to the loop.
 */
final class Share {
  final Object key;

  /** Connections. */
  int clients;

  /** What waits of it, in all services. */
  long queuedBytes;

  Share(Object key) {
    this.key = key;
  }
}
