package io.eventbus.loadtest.driver;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Does to a stream of events what a {@link Fault} says. Called as its receiver is. */
final class FaultyReceiver implements Driver.Receiver {
  private final Driver.Receiver receiver;
  private final Fault fault;
  private long count;
  private @Nullable ByteBuffer held;

  FaultyReceiver(Driver.Receiver receiver, Fault fault) {
    this.receiver = receiver;
    this.fault = fault;
  }

  @Override
  public void onEvent(ByteBuffer payload) {
    onEvent(payload, UNKNOWN);
  }

  @Override
  public void onEvent(ByteBuffer payload, long busMicros) {
    if (++count % fault.every() != 0) {
      receiver.onEvent(payload, busMicros);
      release();
      return;
    }
    switch (fault.kind()) {
      case DROP -> {}
      case DOUBLE -> {
        receiver.onEvent(payload, busMicros);
        receiver.onEvent(payload, busMicros);
      }
      case SWAP -> held = copy(payload);
    }
  }

  private static ByteBuffer copy(ByteBuffer payload) {
    return ByteBuffer.allocate(payload.remaining()).put(payload.duplicate()).flip();
  }

  private void release() {
    ByteBuffer late = held;
    if (late != null) {
      held = null;
      receiver.onEvent(late);
    }
  }
}
