package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Request of a caller for {@link CallerConnection#begin}, filled in again for each call, so that
 * none of them needs an object. One for each loop; confined to it.
 */
public final class CallRequest {
  /** Buffer with the bytes of the service's name, which must be valid. */
  public ByteBuffer service = ByteBuffer.allocate(0);

  /** Index of the first byte of the service's name. */
  public int serviceStart;

  /** Length of the service's name in bytes. */
  public int serviceLength;

  /** Number of the call at the caller, at least 1. */
  public long call;

  public CallPriority priority = CallPriority.NORMAL;

  /** Timeout in milliseconds; 0 for the default of the bus. */
  public int timeoutMillis;

  /** Maximum wait for a member if there is none, in milliseconds; part of the timeout. */
  public int waitMillis;

  /** True if the call may be executed twice. */
  public boolean idempotent;

  /** Number of times that the caller has sent this request before. */
  public int attempt;

  /** Only member that may be called, 0 for any. */
  public long member;

  /** Time of receipt in microseconds since the epoch; for the member. */
  public long receivedAt;

  /** Fingerprint of the payload's schema; for the member. */
  public long schema;

  /** Length of the method, which the body starts with, in bytes; for the member. */
  public int methodLength;

  /**
   * True for a call from a peer: only local members may have it, and {@link #call} is the peer's
   * number.
   */
  public boolean fromPeer;

  /** Caller of a call from a peer; else null. */
  public @Nullable CallerInfo caller;

  /** Caller's number of a call from a peer. */
  public long request;

  /** True for a call from a peer that goes back if it finds no place soon. */
  public boolean returnable;

  /**
   * Method and event; only their size matters here. {@link CallerConnection#begin} retains what it
   * keeps. It may wait for long: use a separate allocator, so that it keeps no slab of deliveries
   * alive.
   */
  public @Nullable Delivery body;

  /** Caller's end of a stream or tunnel; null for a single reply. */
  public @Nullable TunnelHalf tunnel;

  /** Creates an empty request. */
  public CallRequest() {}
}
