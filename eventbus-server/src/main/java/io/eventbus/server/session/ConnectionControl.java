package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.advisory.Advisory;
import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a session: its client, its turns on the loop, and its end.
 *
 * <p>All methods but {@link #execute}, {@link #isLocal} and {@link #remoteAddress} are for the loop
 * that owns the connection. An implementation must not block and must not throw. From {@link
 * #close} it may call {@link Session#onClosed}, nothing else.
 */
public interface ConnectionControl {
  /** Closes the connection after all frames sent before; nothing is received or sent afterwards. */
  void close(CloseReason reason, String message);

  /**
   * Closes the connection when all queued bytes are written to the network; frames that arrive
   * meanwhile are read and ignored. The duration is bounded as for any client.
   */
  void closeWhenWritten(CloseReason reason, String message);

  /**
   * Runs a task on this loop when the client has read everything sent before, except deliveries
   * that its credit holds back; not if the connection ends first. A second call replaces the first.
   *
   * @param task must not block
   */
  void whenRead(Runnable task);

  /** Schedules a retry for one of the next turns of the loop, after those scheduled before. */
  void nextTurn(Runnable retry);

  /**
   * Runs a task in one of the next turns of the loop, whatever the connection waits for.
   *
   * @param task called once on this loop, perhaps after the end of the connection
   */
  void inTurn(Runnable task);

  /** Schedules a retry after a delay in nanoseconds. */
  void later(Runnable retry, long nanos);

  /**
   * Runs a task on the loop that owns the connection; any thread. The task is discarded after the
   * end of the bus.
   *
   * @param task must not block
   */
  void execute(Runnable task);

  /**
   * Charges the client for work that it caused and that was not done while its frames were handled.
   *
   * @param nanos duration of the work
   */
  void chargeWork(long nanos);

  /**
   * Records a failed authentication. Returns true if the refusal has to be delayed because failures
   * are frequent at the client's address.
   *
   * @param text what was wrong, for the log, after the words "a client"; without secrets
   * @param retry called once when the delay has passed, if there is one
   */
  boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable retry);

  /**
   * Returns whether a client of this kind may stall publishers; false for a page in a browser where
   * that is not allowed.
   */
  boolean mayBlock();

  /**
   * Returns the client certificate of the TLS connection, issued by an authority that the bus
   * trusts; null for none.
   */
  @Nullable X509Certificate certificate();

  /**
   * Returns whether the client is on this machine, as far as the bus can know; false if the request
   * came through a proxy on any machine. Any thread.
   */
  boolean isLocal();

  /** Returns the client's address; any thread. */
  String remoteAddress();
}
