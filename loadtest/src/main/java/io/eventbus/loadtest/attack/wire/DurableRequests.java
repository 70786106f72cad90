package io.eventbus.loadtest.attack.wire;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ask;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Legal frames of clients of durable topics, as octets. Stateless. */
public final class DurableRequests {
  private DurableRequests() {}

  /**
   * Conditions of a publication.
   *
   * @param expect 0 for nothing, 1 for an empty topic, else its last position and 1
   * @param name of the producer, null for none
   * @param number of the event with that name, else 0
   */
  public record Conditions(
      long expect, long delayMillis, long ttlMillis, @Nullable String name, long number) {
    /** Nothing is asked for. */
    public static final Conditions NONE = new Conditions(0, 0, 0, null, 0);
  }

  /**
   * Writes a {@code Publish} of one event, with {@code confirm}.
   *
   * @param topic where to
   */
  public static byte[] publish(String topic, long sequence, byte[] payload, Conditions conditions) {
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    String producer = conditions.name();
    byte[] producerName = producer == null ? null : producer.getBytes(StandardCharsets.UTF_8);
    int event = Frames.eventSize(0, -1, 1, payload.length);
    int tail =
        Frames.publishTailSize(
            conditions.expect(),
            conditions.delayMillis(),
            conditions.ttlMillis(),
            producerName,
            conditions.number());
    ByteBuffer frame =
        ByteBuffer.allocate(Frames.publishSize(name.length, sequence, 0, 1, event, tail));
    Frames.writePublishHead(frame, name, sequence, 0, true, 1, event, tail);
    Frames.writeEvent(frame, 0, null, EncodedHeaders.NONE, payload);
    frame.put((byte) 0);
    Frames.writePublishTail(
        frame,
        conditions.expect(),
        conditions.delayMillis(),
        conditions.ttlMillis(),
        producerName,
        conditions.number());
    return frame.array();
  }

  /**
   * Writes a {@code Consume} of the only journal that has topics of the filter.
   *
   * @param name of the durable subscription, empty for none
   * @param limit bytes of {@code Feed} that are accepted at first
   */
  public static byte[] consume(
      long id, String filter, String name, ConsumeStart start, long limit) {
    return ControlFrames.encode(
        TypeCode.CONSUME,
        new Consume(
            id,
            filter,
            "",
            name,
            ConsumeMode.EXCLUSIVE,
            start,
            0L,
            limit,
            0L,
            ConsumeStart.UNKNOWN,
            0L,
            0,
            0,
            0));
  }

  /** Writes a {@code Credit} of a consumer. */
  public static byte[] credit(long consumer, long limit) {
    return ControlFrames.encode(TypeCode.CREDIT, new Credit(0L, limit, 0L, consumer));
  }

  /** Writes a {@code Settle}. */
  public static byte[] settle(long id, long upTo, boolean confirm) {
    return ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(id, upTo, confirm, 0L));
  }

  /**
   * Writes an {@code Ask} about a journal.
   *
   * @param name of a durable subscription, empty for none
   * @param time in microseconds since 1970, 0 for none
   */
  public static byte[] ask(long id, String topic, String name, long time) {
    return ControlFrames.encode(TypeCode.ASK, new Ask(id, "", topic, name, time));
  }
}
