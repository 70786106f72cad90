package io.eventbus.server.federation.call;

/**
 * What went by the streams of calls to and from other buses: totals since the start of the bus
 * unless they say "now".
 *
 * @param streamsUp streams to other buses that are up now
 * @param queuedBytes bytes that wait for other buses, or for their acknowledgement, now
 * @param callsSent calls given to other buses
 * @param callsBack of these, the ones that came back because no place was free there
 * @param connects streams that came up, again or for the first time
 * @param resent frames sent again after a cut
 */
public record CallStreamFigures(
    long streamsUp, long queuedBytes, long callsSent, long callsBack, long connects, long resent) {
  /** For a bus that serves alone. */
  public static final CallStreamFigures NONE = new CallStreamFigures(0, 0, 0, 0, 0, 0);
}
