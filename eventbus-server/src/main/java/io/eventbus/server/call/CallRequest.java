package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.routing.Delivery;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks for, for {@link CallerConnection#begin}: filled anew for each call, so that
 * none of them needs an object. One for each loop; confined to it.
 */
public final class CallRequest {
  /** Holds the bytes of the service's name, which must be a legal one. */
  public ByteBuffer service = ByteBuffer.allocate(0);

  /** The index of the first byte of the service's name. */
  public int serviceStart;

  /** How many bytes it has. */
  public int serviceLength;

  /** The caller's number, at least 1. */
  public long call;

  /** How urgent it is. */
  public CallPriority priority = CallPriority.NORMAL;

  /** How long the caller waits, in milliseconds; 0 for what the bus has as its default. */
  public int timeoutMillis;

  /** How much of that the bus waits for a member if there is none, in milliseconds. */
  public int waitMillis;

  /** Whether the call may be executed twice. */
  public boolean idempotent;

  /** How often the caller has sent this request before. */
  public int attempt;

  /** The only member that may be called, 0 for any. */
  public long member;

  /** Microseconds since the epoch; for the member. */
  public long receivedAt;

  /** Fingerprint of the payload's schema; for the member. */
  public long schema;

  /** How many of the first bytes of the body are the method; for the member. */
  public int methodLength;

  /**
   * Whether it comes from another bus: then only members of this one may have it, and {@link #call}
   * is that bus's number.
   */
  public boolean far;

  /** Of one that comes from another bus: who calls; else null. */
  public @Nullable CallerInfo caller;

  /** Of one that comes from another bus: the caller's number. */
  public long request;

  /** Of one that comes from another bus: whether it goes back if it finds no place soon. */
  public boolean returnable;

  /**
   * The method and the event behind it; only its size matters here. {@link CallerConnection#begin}
   * retains what it keeps. It may wait for long: make it with an allocator that makes nothing else,
   * so that it keeps no slab of deliveries.
   */
  public @Nullable Delivery body;

  /** The caller's end, of a stream or tunnel; null for one reply. */
  public @Nullable TunnelHalf tunnel;

  /** Makes an empty one. */
  public CallRequest() {}
}
