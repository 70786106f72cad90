package io.eventbus.server.samples;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Frames of events, written and read. */
public final class SampleFrames {
  private static final FrameLimits UNLIMITED =
      new FrameLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  private SampleFrames() {}

  /**
   * Event of a frame.
   *
   * @param key its key, null for none
   */
  public record Event(@Nullable String key, String payload) {}

  /** Frame of events as a subscriber gets it. */
  public record Delivered(
      String topic,
      long producer,
      long sequence,
      long receivedAt,
      List<Event> events,
      List<Long> groups) {
    /** Returns the payloads only. */
    public List<String> payloads() {
      return events.stream().map(Event::payload).toList();
    }
  }

  /** Frame of stored events as a consumer gets it. */
  public record Fed(long id, long from, long to, long head, List<String> payloads) {}

  /** Frame of stored events as a consumer of a shared subscription gets it. */
  public record FedShared(
      long id, long from, long to, int attempt, List<Long> positions, List<String> payloads) {}

  /** Returns a Publish whose events have no key. */
  public static byte[] publish(String topic, long sequence, boolean confirm, String... payloads) {
    List<Event> events = new ArrayList<>();
    for (String payload : payloads) {
      events.add(new Event(null, payload));
    }
    return publish(topic, sequence, confirm, events);
  }

  /** Returns a Publish. */
  public static byte[] publish(String topic, long sequence, boolean confirm, List<Event> events) {
    EncodedHeaders headers = EncodedHeaders.of(Map.of());
    int eventBytes = 0;
    for (Event event : events) {
      byte[] key = bytes(event.key());
      eventBytes +=
          Frames.eventSize(
              1,
              key == null ? -1 : key.length,
              headers.size(),
              event.payload().getBytes(StandardCharsets.UTF_8).length);
    }
    ByteBuffer encoded = ByteBuffer.allocate(eventBytes);
    for (Event event : events) {
      Frames.writeEvent(
          encoded,
          1,
          bytes(event.key()),
          headers,
          event.payload().getBytes(StandardCharsets.UTF_8));
    }
    byte[] topicBytes = topic.getBytes(StandardCharsets.UTF_8);
    ByteBuffer frame =
        ByteBuffer.allocate(
            Frames.publishSize(topicBytes.length, sequence, 0, events.size(), eventBytes));
    Frames.writePublish(
        frame, topicBytes, sequence, 0, confirm, events.size(), encoded.flip().slice());
    return frame.array();
  }

  private static byte @Nullable [] bytes(@Nullable String text) {
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }

  /** Reads a Publish as a bus does. */
  public static PublishView view(byte[] publish) {
    return view(ByteBuffer.wrap(publish));
  }

  /** Reads a Publish as a bus does. */
  public static PublishView view(ByteBuffer publish) {
    FrameCursor frame = new FrameCursor().wrap(publish, 0, publish.limit());
    if (!frame.next() || frame.typeCode() != TypeCode.PUBLISH.code()) {
      throw new AssertionError("not a Publish");
    }
    PublishView view = new PublishView();
    view.read(publish, frame.bodyStart(), frame.bodyEnd(), UNLIMITED);
    return view;
  }

  /** Returns a delivery of events with a producer and a sequence. */
  public static Delivery delivery(
      ByteBufAllocator allocator,
      BusMemory memory,
      String topic,
      long producer,
      long sequence,
      long receivedNanos,
      List<Event> events) {
    byte[] publish = publish(topic, sequence, false, events);
    PublishView view = view(publish);
    long[] none = {};
    Delivery delivery =
        Delivery.allocate(
            allocator,
            memory,
            DeliveryKind.EVENTS,
            Frames.deliverSize(view, producer, 5, -1, none, 0),
            events.size(),
            receivedNanos);
    Frames.writeDeliver(
        delivery.writable(), ByteBuffer.wrap(publish), view, producer, 5, -1, none, 0);
    delivery.finish();
    return delivery;
  }

  /** Reads all frames of a message: {@link Delivered}, or the record of the frame. */
  public static List<Object> read(ByteBuffer message) {
    List<Object> frames = new ArrayList<>();
    FrameCursor frame = new FrameCursor().wrap(message, message.position(), message.limit());
    while (frame.next()) {
      int from = frame.bodyStart();
      int to = frame.bodyEnd();
      TypeCode type = TypeCode.of(frame.typeCode());
      if (type == null) {
        throw new AssertionError("type code " + frame.typeCode());
      }
      frames.add(
          switch (type) {
            case DELIVER -> delivered(message, from, to);
            case WELCOME -> ControlFrames.welcome(message, from, to);
            case PROBLEM -> ControlFrames.problem(message, from, to);
            case CONFIRM -> ControlFrames.confirm(message, from, to);
            case GAP -> ControlFrames.gap(message, from, to);
            case BARRIER -> ControlFrames.barrier(message, from, to);
            case DRAINED -> ControlFrames.drained(message, from, to);
            case CHANGE_BUS -> ControlFrames.changeBus(message, from, to);
            case ECHO -> ControlFrames.echo(message, from, to);
            case INVOKE -> SampleCalls.invoke(message, from, to);
            case REPLY -> SampleCalls.reply(message, from, to);
            case FAILURE -> ServiceFrames.failure(message, from, to);
            case CANCEL -> ServiceFrames.cancel(message, from, to);
            case DATA -> SampleCalls.data(message, from, to);
            case CREDIT -> ControlFrames.credit(message, from, to);
            case FEED -> fed(message, from, to);
            case TOLD -> DurableFrames.told(message, from, to);
            case TRUNCATED -> DurableFrames.truncated(message, from, to);
            case HELLO,
                PUBLISH,
                SUBSCRIBE,
                ACK,
                UNSUBSCRIBE,
                CHANGE_BUS_FAILED,
                REGISTER,
                UNREGISTER,
                REQUEST,
                CAPACITY,
                AUTHENTICATE,
                CONSUME,
                SETTLE,
                ASK ->
                throw new AssertionError("a bus sent " + type);
          });
    }
    return frames;
  }

  /** Reads a delivery's frame. */
  public static Delivered read(Delivery delivery) {
    return (Delivered) read(delivery.frame()).get(0);
  }

  private static Object fed(ByteBuffer in, int from, int to) {
    FeedView feed = new FeedView();
    feed.read(in, from, to);
    List<String> payloads = new ArrayList<>();
    List<Long> positions = new ArrayList<>();
    FrameCursor frame = new FrameCursor().wrap(in, feed.framesStart(), feed.framesEnd());
    DeliverView view = new DeliverView();
    while (frame.next()) {
      view.read(in, frame.bodyStart(), frame.bodyEnd(), UNLIMITED);
      List<String> events = delivered(in, frame.bodyStart(), frame.bodyEnd()).payloads();
      // Those before are not for the consumer.
      long known = Math.max(0, feed.from() - view.offset());
      payloads.addAll(events.subList((int) Math.min(events.size(), known), events.size()));
      for (int i = 0; i < events.size(); i++) {
        positions.add(view.offset() + i);
      }
    }
    if (feed.attempt() != 0) {
      return new FedShared(feed.id(), feed.from(), feed.to(), feed.attempt(), positions, payloads);
    }
    return new Fed(feed.id(), feed.from(), feed.to(), feed.head(), payloads);
  }

  private static Delivered delivered(ByteBuffer in, int from, int to) {
    DeliverView view = new DeliverView();
    view.read(in, from, to, UNLIMITED);
    List<Event> events = new ArrayList<>();
    for (EventCursor event = view.events(); event.next(); ) {
      events.add(new Event(event.key(), new String(event.payload(), StandardCharsets.UTF_8)));
    }
    List<Long> groups = new ArrayList<>();
    for (int i = 0; i < view.groupCount(); i++) {
      groups.add(view.group(i));
    }
    return new Delivered(
        view.topic(), view.producer(), view.sequence(), view.receivedAt(), events, groups);
  }
}
