package io.eventbus.server.call;

/** The calls that begin or end at connections of one event loop. Confined to it. */
public interface LoopCalls {
  /**
   * Makes a connection one that calls.
   *
   * @param end the connection
   * @param info who it is
   * @return nothing is kept of it after its {@link CallingClient#close}, but what members still
   *     have
   */
  CallingClient caller(CallerEnd end, CallerInfo info);

  /**
   * Makes a connection one that serves.
   *
   * @param end the connection
   * @param number the member's number: the producer number of the client, not 0
   * @return nothing is kept of it after its {@link ServingClient#close}
   */
  ServingClient server(MemberEnd end, long number);

  /**
   * Gives other loops what has been collected for them; to be called at the end of each round in
   * which {@link LoopPort#flushSoon} was called.
   */
  void flush();
}
