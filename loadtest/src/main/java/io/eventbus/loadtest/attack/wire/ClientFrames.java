package io.eventbus.loadtest.attack.wire;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Legal frames of a client, as octets. Stateless. */
public final class ClientFrames {
  private ClientFrames() {}

  /**
   * Writes a {@code Hello}.
   *
   * @param token empty for none
   * @param resume null for none
   */
  public static byte[] hello(String name, String token, @Nullable String resume) {
    return ControlFrames.encode(
        TypeCode.HELLO,
        new Hello(
            name,
            "loadtest-attack",
            token.isEmpty() ? null : token,
            resume,
            Map.of(),
            null,
            null,
            null));
  }

  /** Writes a {@code Subscribe} without a group. */
  public static byte[] subscribe(long id, String filter, Overflow overflow) {
    return ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, filter, null, overflow));
  }

  /** Writes a {@code Subscribe} under BLOCK in a group. */
  public static byte[] subscribe(long id, String filter, String group) {
    return subscribe(id, filter, group, Overflow.BLOCK);
  }

  /** Writes a {@code Subscribe} in a group. */
  public static byte[] subscribe(long id, String filter, String group, Overflow overflow) {
    return ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(id, filter, group, overflow));
  }

  /** Writes an {@code Unsubscribe}. */
  public static byte[] unsubscribe(long id) {
    return ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id));
  }

  /** Writes a {@code Barrier}. */
  public static byte[] barrier(long id) {
    return ControlFrames.encode(TypeCode.BARRIER, new Barrier(id));
  }

  /**
   * Writes one {@code Publish}.
   *
   * @param topic where to
   */
  public static byte[] publish(
      String topic, long sequence, boolean confirm, int events, byte[] payload) {
    byte[][] keys = new byte[events][];
    return publish(topic, sequence, confirm, keys, payload);
  }

  /**
   * Writes one {@code Publish} with an event for each key.
   *
   * @param topic where to
   * @param keys each null for none
   */
  public static byte[] publish(
      String topic, long sequence, boolean confirm, byte[] @Nullable [] keys, byte[] payload) {
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    int size = 0;
    for (byte[] key : keys) {
      size += Frames.eventSize(0, key == null ? -1 : key.length, 1, payload.length);
    }
    ByteBuffer frame =
        ByteBuffer.allocate(Frames.publishSize(name.length, sequence, 0, keys.length, size));
    Frames.writePublishHead(frame, name, sequence, 0, confirm, keys.length, size, 0);
    for (byte[] key : keys) {
      Frames.writeEvent(frame, 0, key, EncodedHeaders.NONE, payload);
    }
    frame.put((byte) 0);
    return frame.array();
  }
}
