package io.eventbus.server.call;

import io.eventbus.server.call.tunnel.TunnelHalf;

/**
 * Connection of a member as calls see it.
 *
 * <p>The methods run on the loop that owns the connection, also from within {@link
 * MemberConnection#register}, {@link MemberConnection#reply} and the like. An implementation must
 * not block and must not throw; if memory is short it closes its connection, and calls {@link
 * MemberConnection#close} in a later task of the loop.
 */
public interface MemberPort {
  /**
   * Sends a call to the client, after those that it was given before. The order matters: {@link
   * MemberConnection#close} gets the number that was written.
   *
   * @param invocation valid until this method returns
   */
  void invoke(MemberInvocation invocation);

  /**
   * Notifies the client that a call has ended for its caller. The call keeps its place in the
   * member's window until the client answers all the same.
   */
  void cancel(long call, String reason);

  /** Closes the connection of a client that leaves too many cancelled calls unanswered. */
  default void closeUnresponsive(String message) {}

  /** Creates the member's end when the client has accepted a stream or tunnel. */
  default TunnelHalf accept(long call, long limit, TunnelHalf caller) {
    throw new UnsupportedOperationException("an end without tunnels");
  }

  /** Cancels a tunnel that the client has accepted after it had ended for the caller. */
  default void cancelTunnel(long call, String reason) {}

  /**
   * Announces to a peer that calls of a service wait for its places; for a member of {@link
   * MemberConnection#serve} only.
   */
  default void announceDemand(long registration, int queued) {}

  /**
   * Charges the client for work that it has caused and that is done later.
   *
   * @param nanos duration of the work
   */
  default void chargeWork(long nanos) {}
}
