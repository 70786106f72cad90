package io.eventbus.server.session;

import io.eventbus.protocol.TypeCode;
import io.eventbus.server.quota.ConnectionQuota;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The quota of what one client sends besides events. The connection is not read while too much has
 * been sent, as for events. Confined to the loop.
 */
final class PayloadQuota {
  /** Types of frames with a payload. Events are counted where they are published. */
  private static final Set<TypeCode> COUNTED =
      EnumSet.of(TypeCode.REQUEST, TypeCode.REPLY, TypeCode.FAILURE, TypeCode.DATA);

  private final LoopContext loop;
  private final ClientLink link;
  private @Nullable ConnectionQuota quotas;
  private boolean waits;

  PayloadQuota(LoopContext loop, ClientLink link) {
    this.loop = loop;
    this.link = link;
  }

  /** Says which quotas hold from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
  }

  /**
   * Counts a frame, unless it has to wait.
   *
   * @param type of the frame, null if it is unknown
   * @param bytes of its body
   * @param retry called once on this loop if it has to wait
   * @return false if it has to wait; then nothing was counted
   */
  boolean take(@Nullable TypeCode type, int bytes, Runnable retry) {
    waits = false;
    ConnectionQuota share = quotas;
    if (share == null || !COUNTED.contains(type)) {
      return true;
    }
    long now = loop.budget().now();
    long nanos = share.sendWaitNanos(now);
    waits = nanos > 0;
    if (waits) {
      link.later(retry, nanos);
      return false;
    }
    share.sent(bytes, now);
    return true;
  }

  /** Whether the last frame waits. */
  boolean waits() {
    return waits;
  }
}
