package io.eventbus.client.internal;

import io.eventbus.client.Interruption;

/** An interruption, where it is told among the events of its subscription. */
record Absence(Interruption interruption) implements Inbound {
  /** The object, what it holds, and its place in a queue. */
  private static final int BYTES = 128;

  @Override
  public int bytes() {
    return BYTES;
  }
}
