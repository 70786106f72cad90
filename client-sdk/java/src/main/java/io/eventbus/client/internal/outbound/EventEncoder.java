package io.eventbus.client.internal.outbound;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Topic;
import io.eventbus.schema.Limits;
import io.eventbus.schema.Welcome;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Encoder of events: checks them against the protocol and the bus's limits, and encodes their
 * parts. Any thread.
 */
public final class EventEncoder {
  // The head of a frame, with the longest topic.
  private static final int FRAME_OVERHEAD = 512;

  private final MicroClock clock;
  private final int bufferBytes;
  private volatile FrameLimits limits = FrameLimits.DEFAULT;
  private volatile int messageBytes = 4 * 1024 * 1024;
  private volatile boolean durable;

  public EventEncoder(MicroClock clock, int bufferBytes) {
    this.clock = clock;
    this.bufferBytes = bufferBytes;
  }

  /** Sets the limits of the bus, and whether it has durable topics. */
  public void limit(Welcome welcome) {
    Limits bus = welcome.getLimits();
    durable = welcome.getDurable();
    limits =
        new FrameLimits(
            Math.max(1, bus.getPayloadBytes()),
            Math.max(0, bus.getHeaders()),
            Math.max(0, bus.getHeaderBytes()));
    messageBytes = Math.max(1024, bus.getMessageBytes());
  }

  /** Returns whether another bus accepts all that this one does. */
  public boolean fits(Welcome welcome) {
    Limits other = welcome.getLimits();
    return (welcome.getDurable() || !durable)
        && other.getPayloadBytes() >= limits.payloadBytes()
        && other.getHeaders() >= limits.headers()
        && other.getHeaderBytes() >= limits.headerBytes()
        && other.getMessageBytes() >= messageBytes;
  }

  public int messageBytes() {
    return messageBytes;
  }

  public static void checkTopic(String topic) {
    String problem = Topic.problem(topic);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
  }

  /**
   * Encodes an event.
   *
   * @param options for a durable topic; null for none
   * @throws EventBusException.PayloadTooBig if the event is over a limit of the bus
   * @throws EventBusException.IllegalTopic if the options have an illegal name
   */
  public OpenBatch.EncodedEvent encode(Event event, @Nullable PublishOptions options) {
    DurableWish wish = options == null ? null : DurableWish.of(options);
    OpenBatch.EncodedEvent encoded = encodeParts(event, wish);
    check("event bytes", encoded.size, Math.min(bufferBytes, messageBytes - FRAME_OVERHEAD));
    return encoded;
  }

  /** Encodes the event of a request or of its reply. */
  OpenBatch.EncodedEvent encodeForCall(Event event) {
    OpenBatch.EncodedEvent encoded = encodeParts(event, null);
    check("event bytes", encoded.size, maxCallBytes());
    return encoded;
  }

  /** Returns the maximum size of a whole event of a request. */
  public int maxCallBytes() {
    return Math.max(0, messageBytes - CallFrames.MAX_HEAD);
  }

  private OpenBatch.EncodedEvent encodeParts(Event event, @Nullable DurableWish wish) {
    FrameLimits max = limits;
    byte[] payload = event.payload();
    check("payload", payload.length, max.payloadBytes());
    byte @Nullable [] key = null;
    String keyText = event.key();
    if (keyText != null) {
      key = keyText.getBytes(StandardCharsets.UTF_8);
      check("key", key.length, FrameLimits.MAX_KEY_BYTES);
    }
    EncodedHeaders headers = EncodedHeaders.NONE;
    if (!event.headers().isEmpty()) {
      headers = EncodedHeaders.of(event.headers());
      check("headers", headers.count(), max.headers());
      check("header bytes", headers.textBytes(), max.headerBytes());
    }
    long publishedAt = event.hasPublishedAt() ? event.publishedAtMicros() : clock.epochMicros();
    return new OpenBatch.EncodedEvent(publishedAt, key, headers, payload, event.schema(), wish);
  }

  /**
   * Checks an event again that was encoded before, perhaps for another bus.
   *
   * @throws EventBusException.PayloadTooBig if the bus that is connected now does not accept it
   * @throws EventBusException.Refused if it has no durable topics, and the event asks for one
   */
  public void checkAgain(OpenBatch.EncodedEvent event) {
    if (event.wish != null && !durable) {
      throw notDurable();
    }
    if (!fits(event)) {
      throw new EventBusException.PayloadTooBig(
          "an event of "
              + event.size
              + " bytes was made for a bus that takes more than the one that the client has come to"
              + " (expected: at most "
              + limits.payloadBytes()
              + " bytes of payload, and what its limits say of headers and messages)");
    }
  }

  /** Returns the failure of an event whose options the bus would ignore. */
  public static EventBusException.Refused notDurable() {
    return new EventBusException.Refused(
        ErrorCode.UNSUPPORTED,
        "the bus has no durable topics (expected: one that has, for an expectation, a delay or a"
            + " time to live)",
        false);
  }

  /** Returns whether the bus that is connected now accepts an event that was encoded before. */
  public boolean fits(OpenBatch.EncodedEvent event) {
    FrameLimits max = limits;
    return (event.wish == null || durable)
        && event.payload.length <= max.payloadBytes()
        && event.headers.count() <= max.headers()
        && event.headers.textBytes() <= max.headerBytes()
        && event.size <= messageBytes - FRAME_OVERHEAD;
  }

  private static void check(String part, int size, int max) {
    if (size > max) {
      throw new EventBusException.PayloadTooBig(
          part + ": " + size + " (expected: at most " + max + ")");
    }
  }
}
