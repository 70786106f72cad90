package io.eventbus.client.internal.inbound;

import io.eventbus.client.Interruption;

/** Interruption that waits among the events of its subscription, to be told in order. */
record Absence(Interruption interruption) implements Inbound {
  /** Bytes of the object, of what it holds, and of its place in a queue. */
  private static final int BYTES = 128;

  @Override
  public int bytes() {
    return BYTES;
  }
}
