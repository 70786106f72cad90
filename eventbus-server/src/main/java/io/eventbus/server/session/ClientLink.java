package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.ServiceShare;
import io.eventbus.server.routing.Subscriber;
import java.security.cert.X509Certificate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A session's way to its client.
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
   * Says whether there is room for a frame of a call, to be sent with {@link #send(Delivery)}.
   *
   * @param frameBytes bytes of the frame
   * @return false if the client has not read so much that no more may wait
   */
  default boolean hasRoomForCall(int frameBytes) {
    return true;
  }

  /**
   * Returns how many calls for the client were given to the socket, of those that were sent with
   * {@link #send(Delivery)}; they are in their order.
   */
  default long invokesWritten() {
    return 0;
  }

  /**
   * Has it told how much of streams and tunnels was written, of what was sent with {@link
   * #send(Delivery)}.
   *
   * @param listener gets, on the loop, how many of their frames were given to the socket since the
   *     start; may send
   */
  default void onBulkWritten(LongConsumer listener) {}

  /**
   * Sends a frame that is not a delivery behind every event that was queued before, also where the
   * overflow policy keeps some aside; it is never dropped.
   */
  void sendLast(byte[] frame);

  /**
   * Holds deliveries back while so many bytes of them have been sent since the client was welcomed.
   * From the first call on, what is sent with {@link #send} overtakes deliveries.
   *
   * @param limit bytes of {@code Deliver} frames with their heads; one that is smaller than before
   *     changes nothing
   */
  void grant(long limit);

  /**
   * Says whether so many answers wait for the client to read them that no more of its requests
   * should be served.
   *
   * @param retry if so, called once on this loop when the client has read them
   * @return true if the session has to wait
   */
  boolean mustWait(Runnable retry);

  /**
   * Returns what all clients have in common that share the limits of one address.
   *
   * @return equal for them; null where no limits for addresses hold
   */
  default @Nullable Object addressShare() {
    return null;
  }

  /**
   * Says whether so many clients of that address could not prove lately who they are that a refusal
   * would be late.
   *
   * @return true if so
   */
  default boolean failsOften() {
    return false;
  }

  /**
   * Notes that the client could not prove who it is, and says whether it may be told so only later,
   * because that happens often where it is.
   *
   * @param text what was wrong, for the log, as it goes on after "a client"; without secrets
   * @param retry if so, called once when the time has come
   * @return true if the session has to wait
   */
  default boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable retry) {
    return false;
  }

  /**
   * Asks for a call in one of the next turns of the loop, behind those that were asked for before.
   */
  void nextTurn(Runnable retry);

  /**
   * Runs a task in one of the next turns of the loop, whatever the connection waits for.
   *
   * @param task called once on this loop, perhaps after the end of the connection
   */
  void inTurn(Runnable task);

  /**
   * Charges the client with work that it has caused and that was not done while its frames were
   * handled.
   *
   * @param nanos how long it took
   */
  default void caused(long nanos) {}

  /**
   * Asks for a call when some time has passed.
   *
   * @param nanos how long
   */
  void later(Runnable retry, long nanos);

  /**
   * Closes the connection after all that was sent before; nothing is received or sent afterwards.
   */
  void close(CloseReason reason, String message);

  /**
   * Closes the connection when the network has taken all that is queued; what comes from the client
   * meanwhile is read and not acted on. How long that may take is bounded, as for any client.
   */
  void closeWhenWritten(CloseReason reason, String message);

  /**
   * Runs a task on this loop when the client has read all that was sent before, but for deliveries
   * that its {@linkplain #grant limit} holds back; not if the connection ends first. A second call
   * replaces the first.
   *
   * @param task must not block
   */
  void whenRead(Runnable task);

  /** Returns the queue for deliveries. */
  Subscriber subscriber();

  /**
   * Runs a task on the loop that owns the connection; any thread. After the end of the bus it is
   * not run.
   *
   * @param task must not block
   */
  void execute(Runnable task);

  /**
   * Returns what waits for the client; any thread.
   *
   * @return bytes
   */
  long queuedBytes();

  /** Returns what was queued for the client since the start; any thread. */
  long delivered();

  /** Returns what was dropped by the client's overflow policies; any thread. */
  long dropped();

  /**
   * Takes some of what the subscriptions of all connections from the client's address may hold
   * together.
   *
   * @param bytes by estimate
   * @return false if there is not so much left; then nothing was taken
   */
  default boolean acquireSubscriptionBytes(long bytes) {
    return true;
  }

  /**
   * Gives back what was taken with {@link #acquireSubscriptionBytes}; at the latest in {@link
   * Session#onClosed}.
   *
   * @param bytes all of it or a part
   */
  default void releaseSubscriptionBytes(long bytes) {}

  @Override
  default boolean acquireServiceBytes(long bytes) {
    return true;
  }

  @Override
  default void releaseServiceBytes(long bytes) {}

  /**
   * Counts filters that other buses are told of because of the connection, for the client's
   * address.
   *
   * @param change how many more, or less if it is negative
   */
  default void changeInterest(int change) {}

  /**
   * Says whether all connections from the client's address bring more filters than one address may.
   *
   * @return true if they do
   */
  default boolean isInterestFull() {
    return false;
  }

  /**
   * Holds what is queued for the client against its quotas from now on.
   *
   * @param share the client's part; null for no quotas
   */
  default void shareQuota(@Nullable ConnectionQuota share) {}

  /**
   * Says whether the client may hold publishers back, as far as its kind is concerned.
   *
   * @return false for a page in a browser, where that is not allowed
   */
  default boolean mayBlock() {
    return true;
  }

  /**
   * Returns the certificate with which the client has opened its TLS connection; on the loop.
   *
   * @return one of an authority that the bus trusts, or null
   */
  default @Nullable X509Certificate certificate() {
    return null;
  }

  /**
   * Says whether the client is on this machine, as far as the bus can know; any thread.
   *
   * @return false where the request came by way of a proxy, on this machine or on another
   */
  default boolean isLocal() {
    return true;
  }

  /** Returns where the client is; any thread. */
  String remoteAddress();
}
