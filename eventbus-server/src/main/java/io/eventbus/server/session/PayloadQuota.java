package io.eventbus.server.session;

import io.eventbus.protocol.TypeCode;
import io.eventbus.server.quota.ConnectionQuota;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Quota of one client for frames with a payload other than events. As with events, the connection
 * is not read while it is exceeded. Confined to the loop.
 */
final class PayloadQuota {
  /** Types of frames with a payload. Events are counted where they are published. */
  private static final Set<TypeCode> COUNTED =
      EnumSet.of(TypeCode.REQUEST, TypeCode.REPLY, TypeCode.FAILURE, TypeCode.DATA);

  private final LoopContext loop;
  private final ConnectionControl connection;
  private @Nullable ConnectionQuota quotas;
  private boolean waits;

  PayloadQuota(LoopContext loop, ConnectionControl connection) {
    this.loop = loop;
    this.connection = connection;
  }

  /** Sets the quotas that apply from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
  }

  /**
   * Counts a frame, unless it has to wait. Returns false if it has to wait; then nothing was
   * counted.
   *
   * @param type type of the frame, null if it is unknown
   * @param bytes bytes of its body
   * @param retry called once on this loop if the frame has to wait
   */
  boolean tryAcquire(@Nullable TypeCode type, int bytes, Runnable retry) {
    waits = false;
    ConnectionQuota share = quotas;
    if (share == null || !COUNTED.contains(type)) {
      return true;
    }
    long now = loop.budget().now();
    long nanos = share.sendWaitNanos(now);
    waits = nanos > 0;
    if (waits) {
      connection.later(retry, nanos);
      return false;
    }
    share.sent(bytes, now);
    return true;
  }

  /** Returns whether the last frame waits. */
  boolean waits() {
    return waits;
  }
}
