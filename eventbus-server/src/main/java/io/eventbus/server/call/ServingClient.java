package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * A connection that serves: made with its first registration, by {@link LoopCalls#server}. Confined
 * to the loop that owns the connection.
 */
public interface ServingClient {
  /**
   * Makes the connection a member of a service. When this returns, the calls of every loop of this
   * bus may be given to it; some may have been already, from within.
   *
   * @param registration what {@link Invocation#registration} returns; of this connection's own
   * @param service a legal name
   * @param concurrency calls that the client works on at once; 0: it takes none
   * @return the member, or null if the connection is a member of that service already
   */
  @Nullable ServiceMember register(long registration, String service, int concurrency);

  /**
   * Takes a member's reply to a call.
   *
   * @param call the bus's number, from {@link Invocation#call}
   * @param handledMicros how long the member worked, in microseconds, as it says
   * @param reply for {@link CallerEnd#reply}, which may run on another loop; retained while it is
   *     on its way
   * @return false if this connection has no such call, as when it has answered it before; then
   *     nothing was done
   */
  boolean reply(long call, int handledMicros, Delivery reply);

  /**
   * Takes a member's answer that there is no reply. {@code REFUSED} and {@code OVERLOADED} with
   * {@code executed} NO make the bus try other members first.
   *
   * @param call the bus's number, from {@link Invocation#call}
   * @param code why
   * @param executed whether the member has begun with the call
   * @param retryAfterMillis when another try may be worth it, 0 for no advice
   * @param failure for {@link CallerEnd#failure}, which may run on another loop; retained while it
   *     is on its way
   * @return false if this connection has no such call; then nothing was done
   */
  boolean failure(
      long call, FailureCode code, Execution executed, long retryAfterMillis, Delivery failure);

  /**
   * The connection has ended: its members leave, and what they have not answered ends or goes to
   * others. {@link MemberEnd} is not called again. A second call does nothing.
   *
   * @param written how many of the {@link MemberEnd#invoke invocations} of this connection, from
   *     the first on, the network may have been given a byte of; the client cannot have begun with
   *     those behind them. {@link Long#MAX_VALUE} if that is not known
   */
  void close(long written);
}
