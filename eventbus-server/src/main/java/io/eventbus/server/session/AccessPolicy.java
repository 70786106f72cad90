package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import org.jspecify.annotations.Nullable;

/**
 * Who may connect and what they may do.
 *
 * <p>An implementation is called on event loops: it must not block. Each method returns null for
 * yes, or the reason for no, which is shown to the client.
 */
public interface AccessPolicy {
  /**
   * Decides on a connection.
   *
   * @param token from {@code Hello}, null for none
   * @return null if it may connect, else the reason
   */
  @Nullable String refuseConnection(@Nullable String token);

  /**
   * Decides on a subscription.
   *
   * @param filter a legal filter
   * @param isLocal whether the client is on this machine
   * @return null if it may subscribe, else the reason
   */
  @Nullable String refuseSubscription(TopicFilter filter, boolean isLocal);

  /**
   * Decides on an overflow policy.
   *
   * @param overflow what the client asks for
   * @param isLocal whether it is on this machine
   * @return null if it may have it, else the reason
   */
  @Nullable String refuseOverflow(Overflow overflow, boolean isLocal);
}
