package io.eventbus.server.call;

/** Fair-queueing group: the connections of one user. Confined to the loop. */
final class FairnessGroup {
  final Object key;

  /** Number of connections. */
  int clients;

  /** Waiting bytes of the group in all services. */
  long queuedBytes;

  FairnessGroup(Object key) {
    this.key = key;
  }
}
