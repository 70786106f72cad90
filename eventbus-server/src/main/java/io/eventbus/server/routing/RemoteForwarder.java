package io.eventbus.server.routing;

import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;

/**
 * Where published frames leave for other buses.
 *
 * <p>An implementation is called on the publisher's loop, must not block and must not throw, and
 * must copy what it keeps: the buffer is only lent.
 */
public interface RemoteForwarder {
  /** For a bus that serves alone: nothing leaves. */
  RemoteForwarder NONE = (in, publish, topic, producer, receivedAt) -> {};

  /**
   * Takes a frame that a local client published.
   *
   * @param in the buffer that {@code publish} was read from
   * @param publish the frame
   * @param topic its topic
   * @param producer the publisher's number
   * @param receivedAt microseconds since the epoch, this bus's clock
   */
  void forward(ByteBuffer in, PublishView publish, String topic, long producer, long receivedAt);
}
