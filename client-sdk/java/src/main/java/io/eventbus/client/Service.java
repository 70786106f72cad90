package io.eventbus.client;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Service that this client is a member of; it survives reconnects. Any thread may use it. */
public interface Service {
  /**
   * Returns the name.
   *
   * @return the name
   */
  String name();

  /**
   * Returns the options.
   *
   * @return the options
   */
  ServiceOptions options();

  /**
   * Returns a stage that completes when the bus has confirmed the member for the first time:
   * requests from anywhere in the cluster reach it from then on. If that fails, the service is
   * ended, also at the bus, but for a bus that has no services: the next one may serve it. Without
   * a call of this method, {@link ConnectionListener#problem} reports the failure.
   *
   * @return a stage that completes with this service, or with {@link EventBusException.Refused},
   *     {@link EventBusException.TimedOut} or {@link EventBusException.Closed}; never on an I/O
   *     thread
   */
  CompletionStage<Service> ready();

  /**
   * Sets the handler of events that are broadcast to the service: in order for each client that
   * broadcasts, at most once, gaps reported. Events from before this call are not handled.
   *
   * @param handler gets the events, one at a time; their topic is {@code $SRV.} and the name
   * @return this service
   * @throws IllegalStateException if there is a handler already
   */
  Service onBroadcast(EventHandler handler);

  /**
   * Accepts tunnels from now on; before, callers that ask for one are refused.
   *
   * @param options how much each tunnel may hold at this end; its {@link TunnelOptions#request} has
   *     no meaning here
   * @param handler accepts them; it takes the place of an earlier one
   */
  void onTunnel(TunnelOptions options, TunnelHandler handler);

  /**
   * Accepts tunnels with the default options.
   *
   * @param handler as above
   */
  default void onTunnel(TunnelHandler handler) {
    onTunnel(TunnelOptions.DEFAULT, handler);
  }

  /**
   * Answers requests for streams from now on; before, they are refused.
   *
   * @param handler answers them; it takes the place of an earlier one
   */
  void onStream(StreamHandler handler);

  /** Accepts no more requests until {@link #resume}; those that are here already are answered. */
  void pause();

  /** Accepts requests again. */
  void resume();

  /**
   * Returns the counts so far.
   *
   * @return a snapshot; the numbers in it are not taken at exactly the same moment
   */
  Stats stats();

  /**
   * Ends the service: no more requests are accepted, and those that are here are answered. Requests
   * that are not answered after the time-out are cancelled.
   *
   * @param timeout how long to wait for the answers
   * @return a stage that completes with true when all are answered, with false after the time-out;
   *     the same stage for every call
   */
  CompletionStage<Boolean> close(Duration timeout);

  /**
   * Counts of a member of a service.
   *
   * @param received requests that have come
   * @param answered requests that the handler has answered
   * @param failed requests that the handler has failed or rejected
   * @param expired requests that were dropped before the handler because their time was over
   * @param cancelled requests that the caller has cancelled, before the handler or in it
   * @param refused requests that were not accepted because too much waited
   * @param repeated requests that came again and got the reply of the first time
   * @param running requests that the handler is at now
   * @param waiting requests that wait for the handler now
   * @param waitingBytes the bytes of the waiting requests
   */
  record Stats(
      long received,
      long answered,
      long failed,
      long expired,
      long cancelled,
      long refused,
      long repeated,
      int running,
      int waiting,
      long waitingBytes) {}
}
