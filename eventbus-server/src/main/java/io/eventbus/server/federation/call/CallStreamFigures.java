package io.eventbus.server.federation.call;

/**
 * Counters of the streams of calls to and from peers: totals since the start of the bus unless they
 * say "now".
 *
 * @param queuedBytes bytes that wait for peers, or for their acknowledgement, now
 * @param resent frames sent again after a cut
 */
public record CallStreamFigures(
    long streamsUp, long queuedBytes, long callsSent, long callsBack, long connects, long resent) {
  /** Counters of a bus that serves alone. */
  public static final CallStreamFigures NONE = new CallStreamFigures(0, 0, 0, 0, 0, 0);
}
