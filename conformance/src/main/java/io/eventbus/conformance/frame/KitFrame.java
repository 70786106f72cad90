package io.eventbus.conformance.frame;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A decoded frame.
 *
 * @param name the name of its record; {@code Unknown} if the number is not known
 * @param record its record in JSON, with all fields; empty if the number is not known
 */
public record KitFrame(int typeCode, String name, ObjectNode record) {

  /**
   * Reads the frames of a message, strictly: by the parsers of the bus and the SDK, and again by
   * Avro's library.
   *
   * @throws MalformedFrameException if a frame must be refused
   */
  public static List<KitFrame> read(byte[] message) {
    List<KitFrame> frames = new ArrayList<>();
    ByteBuffer buffer = ByteBuffer.wrap(message);
    FrameCursor cursor = new FrameCursor().wrap(buffer, 0, message.length);
    while (cursor.next()) {
      TypeCode type = TypeCode.of(cursor.typeCode());
      if (type == null) {
        frames.add(
            new KitFrame(cursor.typeCode(), "Unknown", JsonNodeFactory.instance.objectNode()));
        continue;
      }
      check(type, buffer, cursor.bodyStart(), cursor.bodyEnd());
      byte[] body = Arrays.copyOfRange(message, cursor.bodyStart(), cursor.bodyEnd());
      try {
        frames.add(new KitFrame(type.code(), FrameTypes.name(type), RecordReader.read(type, body)));
      } catch (IOException | RuntimeException e) {
        throw new IllegalStateException(
            "Avro's library refuses a " + type + " that the parsers of the protocol take", e);
      }
    }
    return frames;
  }

  private static void check(TypeCode type, ByteBuffer buffer, int from, int to) {
    switch (type) {
      case HELLO -> ControlFrames.hello(buffer, from, to);
      case PUBLISH -> new PublishView().read(buffer, from, to, FrameLimits.DEFAULT);
      case SUBSCRIBE -> ControlFrames.subscribe(buffer, from, to);
      case CHANGE_BUS -> ControlFrames.changeBus(buffer, from, to);
      case DELIVER -> new DeliverView().read(buffer, from, to, FrameLimits.DEFAULT);
      case ACK -> ControlFrames.ack(buffer, from, to);
      case UNSUBSCRIBE -> ControlFrames.unsubscribe(buffer, from, to);
      case WELCOME -> ControlFrames.welcome(buffer, from, to);
      case PROBLEM -> ControlFrames.problem(buffer, from, to);
      case CONFIRM -> ControlFrames.confirm(buffer, from, to);
      case GAP -> ControlFrames.gap(buffer, from, to);
      case BARRIER -> ControlFrames.barrier(buffer, from, to);
      case DRAINED -> ControlFrames.drained(buffer, from, to);
      case CHANGE_BUS_FAILED -> ControlFrames.changeBusFailed(buffer, from, to);
      case REGISTER -> ServiceFrames.register(buffer, from, to);
      case UNREGISTER -> ServiceFrames.unregister(buffer, from, to);
      case REQUEST -> new RequestView().read(buffer, from, to, FrameLimits.DEFAULT);
      case INVOKE -> new InvokeView().read(buffer, from, to, FrameLimits.DEFAULT);
      case REPLY -> new ReplyView().read(buffer, from, to, FrameLimits.DEFAULT);
      case FAILURE -> ServiceFrames.failure(buffer, from, to);
      case CANCEL -> ServiceFrames.cancel(buffer, from, to);
      case DATA -> new DataView().read(buffer, from, to);
      case CREDIT -> ControlFrames.credit(buffer, from, to);
      case CAPACITY -> ServiceFrames.capacity(buffer, from, to);
      case ECHO -> ControlFrames.echo(buffer, from, to);
      case AUTHENTICATE -> ControlFrames.authenticate(buffer, from, to);
      case CONSUME -> DurableFrames.consume(buffer, from, to);
      case FEED -> new FeedView().read(buffer, from, to);
      case SETTLE -> DurableFrames.settle(buffer, from, to);
      case ASK -> DurableFrames.ask(buffer, from, to);
      case TOLD -> DurableFrames.told(buffer, from, to);
      case TRUNCATED -> DurableFrames.truncated(buffer, from, to);
    }
  }

  @Override
  public String toString() {
    // Shortened, because long payloads are of no use to a reader.
    String text = name + " " + record;
    return text.length() <= 300 ? text : text.substring(0, 300) + "…";
  }
}
