package io.eventbus.server.federation.call;

/**
 * What went by the streams of calls to and from other buses: totals since the start of the bus
 * unless they say "now".
 *
 * @param queuedBytes bytes that wait for other buses, or for their acknowledgement, now
 * @param resent frames sent again after a cut
 */
public record CallStreamFigures(
    long streamsUp, long queuedBytes, long callsSent, long callsBack, long connects, long resent) {
  /** For a bus that serves alone. */
  public static final CallStreamFigures NONE = new CallStreamFigures(0, 0, 0, 0, 0, 0);
}
