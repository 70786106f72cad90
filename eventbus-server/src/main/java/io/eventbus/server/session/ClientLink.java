package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.quota.ConnectionQuota;
import java.security.cert.X509Certificate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a session to its client.
 *
 * <p>All methods but {@link #execute}, {@link #queuedBytes} and {@link #remoteAddress} are for the
 * loop that owns the connection. An implementation must not block and must not throw. From {@link
 * #close} it may call {@link Session#onClosed}, nothing else.
 */
public interface ClientLink extends ServiceShare.Address {
  /** Sends a frame that is not a delivery; it is never dropped. */
  void send(byte[] frame);

  /** Sends a frame that is not a delivery; it is never dropped. */
  void send(Delivery frame);

  /**
   * Returns whether there is room for a frame of a call, to be sent with {@link #send(Delivery)};
   * false if the client has too much unread.
   *
   * @param frameBytes bytes of the frame
   */
  default boolean hasRoomForCall(int frameBytes) {
    return true;
  }

  /**
   * Returns how many calls sent with {@link #send(Delivery)} were written to the socket; calls are
   * written in order.
   */
  default long invokesWritten() {
    return 0;
  }

  /**
   * Registers a listener for the progress of stream and tunnel frames sent with {@link
   * #send(Delivery)}.
   *
   * @param listener gets, on the loop, how many of these frames were written to the socket since
   *     the start; may send
   */
  default void onBulkWritten(LongConsumer listener) {}

  /**
   * Sends a frame that is not a delivery after every event queued before, also where the overflow
   * policy keeps events aside; it is never dropped.
   */
  void sendLast(byte[] frame);

  /**
   * Holds deliveries back once this many bytes of them have been sent since the welcome. After the
   * first call, frames sent with {@link #send} overtake deliveries.
   *
   * @param limit bytes of {@code Deliver} frames with their heads; a smaller limit than before
   *     changes nothing
   */
  void grant(long limit);

  /**
   * Returns whether the session has to wait with further requests because too many answers are
   * unread by the client.
   *
   * @param retry called once on this loop when the client has read them, if the session has to wait
   */
  boolean mustWait(Runnable retry);

  /**
   * Returns the limit group of the client's address: equal for all clients that share its limits,
   * null where no limits for addresses apply.
   */
  default @Nullable Object addressShare() {
    return null;
  }

  /**
   * Returns whether so many clients of that address failed to authenticate lately that a refusal
   * would be delayed.
   */
  default boolean failsOften() {
    return false;
  }

  /**
   * Records a failed authentication. Returns true if the refusal has to be delayed because failures
   * are frequent at the client's address.
   *
   * @param text what was wrong, for the log, after the words "a client"; without secrets
   * @param retry called once when the delay has passed, if there is one
   */
  default boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable retry) {
    return false;
  }

  /** Schedules a retry for one of the next turns of the loop, after those scheduled before. */
  void nextTurn(Runnable retry);

  /**
   * Runs a task in one of the next turns of the loop, whatever the connection waits for.
   *
   * @param task called once on this loop, perhaps after the end of the connection
   */
  void inTurn(Runnable task);

  /**
   * Charges the client for work that it caused and that was not done while its frames were handled.
   *
   * @param nanos duration of the work
   */
  default void chargeWork(long nanos) {}

  /** Schedules a retry after a delay in nanoseconds. */
  void later(Runnable retry, long nanos);

  /** Closes the connection after all frames sent before; nothing is received or sent afterwards. */
  void close(CloseReason reason, String message);

  /**
   * Closes the connection when all queued bytes are written to the network; frames that arrive
   * meanwhile are read and ignored. The duration is bounded as for any client.
   */
  void closeWhenWritten(CloseReason reason, String message);

  /**
   * Runs a task on this loop when the client has read everything sent before, except deliveries
   * that its {@linkplain #grant limit} holds back; not if the connection ends first. A second call
   * replaces the first.
   *
   * @param task must not block
   */
  void whenRead(Runnable task);

  /** Returns the queue of deliveries. */
  Subscriber subscriber();

  /**
   * Runs a task on the loop that owns the connection; any thread. The task is discarded after the
   * end of the bus.
   *
   * @param task must not block
   */
  void execute(Runnable task);

  /** Returns the bytes queued for the client; any thread. */
  long queuedBytes();

  /** Returns the number of events queued for the client since the start; any thread. */
  long delivered();

  /** Returns the number of events dropped by the client's overflow policies; any thread. */
  long dropped();

  /**
   * Acquires part of the subscription bytes that all connections from the client's address share.
   * Returns false, with nothing acquired, if not enough are left.
   *
   * @param bytes estimated heap bytes
   */
  default boolean acquireSubscriptionBytes(long bytes) {
    return true;
  }

  /**
   * Releases bytes of {@link #acquireSubscriptionBytes}, all or a part; the rest at the latest in
   * {@link Session#onClosed}.
   */
  default void releaseSubscriptionBytes(long bytes) {}

  @Override
  default boolean acquireServiceBytes(long bytes) {
    return true;
  }

  @Override
  default void releaseServiceBytes(long bytes) {}

  /**
   * Adds to the number of filters that peers learn from the client's address because of this
   * connection.
   *
   * @param change negative for fewer filters
   */
  default void changeInterest(int change) {}

  /**
   * Returns whether all connections from the client's address contribute more filters than an
   * address may.
   */
  default boolean isInterestFull() {
    return false;
  }

  /**
   * Charges bytes queued for the client to its quotas from now on.
   *
   * @param share the client's part; null for no quotas
   */
  default void shareQuota(@Nullable ConnectionQuota share) {}

  /**
   * Returns whether a client of this kind may stall publishers; false for a page in a browser where
   * that is not allowed.
   */
  default boolean mayBlock() {
    return true;
  }

  /**
   * Returns the client certificate of the TLS connection, issued by an authority that the bus
   * trusts; null for none. On the loop.
   */
  default @Nullable X509Certificate certificate() {
    return null;
  }

  /**
   * Returns whether the client is on this machine, as far as the bus can know; false if the request
   * came through a proxy on any machine. Any thread.
   */
  default boolean isLocal() {
    return true;
  }

  /** Returns the client's address; any thread. */
  String remoteAddress();
}
