package io.eventbus.client.internal.durable;

import io.eventbus.client.Truncated;
import java.nio.ByteBuffer;

/** Part of what a bus has fed to a consumer, which waits for its handler. */
sealed interface FedItem {
  /** Returns the last position that it covers. */
  long to();

  /** Returns the bytes that it takes of the buffer. */
  int bytes();

  /**
   * {@code Deliver} frames of a checked {@code Feed}.
   *
   * @param message holds them from {@code start} to {@code end}
   * @param known every event up to this position came before, and is skipped
   */
  record Events(ByteBuffer message, int start, int end, long known, long to, int bytes)
      implements FedItem {}

  /** Events that do not come. */
  record Missing(Truncated truncated) implements FedItem {
    /** Returns whether their positions are those of a journal that was deleted. */
    boolean isOfDeleted() {
      return truncated.reason() == Truncated.Reason.DELETED;
    }

    @Override
    public long to() {
      return isOfDeleted() ? 0 : truncated.to();
    }

    @Override
    public int bytes() {
      return 128;
    }
  }
}
