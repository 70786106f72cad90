package io.eventbus.client;

import java.util.Objects;

/** Handler that decodes the payload of each event for a {@link TypedHandler}. */
final class DecodingHandler<T> implements EventHandler {
  private final PayloadCodec<T> codec;
  private final TypedHandler<T> handler;

  DecodingHandler(PayloadCodec<T> codec, TypedHandler<T> handler) {
    this.codec = Objects.requireNonNull(codec, "codec");
    this.handler = Objects.requireNonNull(handler, "handler");
  }

  @Override
  public void onEvent(ReceivedEvent event) throws Exception {
    handler.onEvent(decode(event), event);
  }

  @Override
  public void onGap(Gap gap) throws Exception {
    handler.onGap(gap);
  }

  @Override
  public void onInterruption(Interruption interruption) throws Exception {
    handler.onInterruption(interruption);
  }

  private T decode(ReceivedEvent event) {
    try {
      return codec.decode(event.payload(), event.schema());
    } catch (EventBusException.UnreadablePayload e) {
      throw new EventBusException.UnreadablePayload(
          "event " + event.sequence() + " of " + event.topic() + ": " + e.getMessage(), e);
    }
  }
}
