package io.eventbus.server.call.dispatch;

/** Fair-queueing group: the connections of one user. Confined to the loop. */
public final class FairnessGroup {
  private final Object key;
  private int clients;

  /** Waiting bytes of the group in all services. */
  long queuedBytes;

  /** Creates a group without connections. */
  public FairnessGroup(Object key) {
    this.key = key;
  }

  /** Returns the key by which its connections find it. */
  public Object key() {
    return key;
  }

  /** Counts a connection. */
  public void join() {
    clients++;
  }

  /** Counts a connection that leaves; returns whether it was the last one. */
  public boolean leave() {
    return --clients == 0;
  }
}
