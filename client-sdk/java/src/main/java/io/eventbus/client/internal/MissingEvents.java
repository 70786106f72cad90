package io.eventbus.client.internal;

import io.eventbus.client.Gap;

/**
 * Events that a subscription did not get; what follows in its queue came after them.
 *
 * @param foundAt when that was found, in microseconds since the epoch
 */
record MissingEvents(Gap gap, long foundAt) implements Inbound {
  /** What it takes in memory beside the topic, which others may hold as well. */
  private static final int OBJECT_BYTES = 64;

  @Override
  public int bytes() {
    return OBJECT_BYTES + gap.topic().length();
  }
}
