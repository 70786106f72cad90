package io.eventbus.server.queue;

import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.quota.ConnectionQuota;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Output to one client. Confined to the client's loop except for {@link #bytes}, {@link #delivered}
 * and {@link #dropped}, and what {@link Subscriber} allows for any thread. An implementation must
 * not block and must not throw.
 */
public interface Outbound extends Subscriber {
  /** Sends a frame that is not a delivery; it is never dropped. */
  void send(byte[] frame);

  /**
   * Sends a frame that is not a delivery; it is never dropped. Takes over the caller's reference.
   */
  void send(Delivery frame);

  /**
   * Sends a frame that is not a delivery after every event queued before, also where the overflow
   * policy keeps events aside; it is never dropped.
   */
  void sendLast(byte[] frame);

  /**
   * Returns whether there is room for a frame of a call, to be sent with {@link #send(Delivery)}:
   * as many bytes of calls as of events may wait for a client.
   */
  boolean hasRoomForCall(int frameBytes);

  /**
   * Returns how many calls sent with {@link #send(Delivery)} were written to the socket; calls are
   * written in order.
   */
  long invokesWritten();

  /**
   * Sets the listener for the progress of stream and tunnel frames sent with {@link
   * #send(Delivery)}.
   *
   * @param listener gets, on the loop, how many of these frames were written to the socket since
   *     the start; may send
   */
  void onBulkWritten(LongConsumer listener);

  /** Returns the bytes of frames of {@code DeliveryKind.FEED} that wait. */
  long feedBytes();

  /**
   * Sets the listener for the progress of these frames.
   *
   * @param listener called on the loop when some were written to the socket; may send
   */
  void onFeedWritten(Runnable listener);

  /**
   * Holds deliveries back once this many bytes of them have been sent since the welcome. After the
   * first call, other frames overtake deliveries.
   *
   * @param limit bytes of {@code Deliver} frames with their heads; a smaller limit than before
   *     changes nothing
   */
  void grant(long limit);

  /**
   * Returns whether the client has to read some answers before more of its requests are served.
   *
   * @param retry called once on this loop when it has read them, if it has to
   */
  boolean mustWait(Runnable retry);

  /** Charges the queued bytes to quotas from now on; null for none. */
  void share(@Nullable ConnectionQuota share);

  /** Returns the bytes that wait; any thread. */
  long bytes();

  /** Returns the events queued since the start; any thread. */
  long delivered();

  /** Returns the events dropped by the policies since the start; any thread. */
  long dropped();
}
