package io.eventbus.client.internal.inbound;

import io.eventbus.client.Gap;

/**
 * Events that a subscription did not get; what follows in its queue came after them.
 *
 * @param foundAt microseconds since the epoch when the gap was found
 */
record MissingEvents(Gap gap, long foundAt) implements Inbound {
  /** Bytes of memory beside the topic, which others may hold as well. */
  private static final int OBJECT_BYTES = 64;

  @Override
  public int bytes() {
    return OBJECT_BYTES + gap.topic().length();
  }
}
