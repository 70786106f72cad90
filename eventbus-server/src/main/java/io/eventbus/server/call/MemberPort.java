package io.eventbus.server.call;

import io.eventbus.server.call.tunnel.TunnelHalf;

/**
 * The connection of a client that serves, as calls see it.
 *
 * <p>The methods run on the loop that owns the connection, also from within {@link
 * MemberConnection#register}, {@link MemberConnection#reply} and the like. An implementation must
 * not block and must not throw; one for which there is no memory ends its connection, and tells
 * {@link MemberConnection#close} of it in a later task of the loop.
 */
public interface MemberPort {
  /**
   * Sends a call to the client, behind those that it was given before. The order matters: {@link
   * MemberConnection#close} is told how many of them were written.
   *
   * @param invocation what to send; valid until this method returns
   */
  void invoke(MemberInvocation invocation);

  /**
   * Tells the client that nobody waits for an answer any more. The call keeps its place in the
   * member's window until the client answers all the same.
   */
  void cancel(long call, String reason);

  /**
   * The client has so many calls that it was told nobody waits for, and does not answer them, that
   * its connection has to end.
   */
  default void owesTooMuch(String message) {}

  /** The client has accepted a stream or tunnel. */
  default TunnelHalf accept(long call, long limit, TunnelHalf caller) {
    throw new UnsupportedOperationException("an end without tunnels");
  }

  /**
   * Nobody waits for the answer to a call any more, which the client has given: it ends if it is a
   * tunnel.
   */
  default void cancelTunnel(long call, String reason) {}

  /**
   * Tells another bus that calls of a service wait for its places; for a member of {@link
   * MemberConnection#serve} only.
   */
  default void want(long registration, int queued) {}

  /**
   * Charges the client with work that it has caused and that comes later.
   *
   * @param nanos how long it took
   */
  default void caused(long nanos) {}
}
