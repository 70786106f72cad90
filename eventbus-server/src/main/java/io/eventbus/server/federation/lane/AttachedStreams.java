package io.eventbus.server.federation.lane;

/**
 * Streams of another kind that one loop has beside its lanes: their deadlines other than keepalives
 * are checked together with those of the lanes. Called on the loop.
 */
public interface AttachedStreams extends DeadlineScheduler {
  /** Ends with this bus: nothing is kept from now on. Connections have said goodbye before. */
  void end();
}
