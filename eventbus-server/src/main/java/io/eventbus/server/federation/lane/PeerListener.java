package io.eventbus.server.federation.lane;

import io.eventbus.schema.Interest;

/**
 * Is told what happens between this bus and others that is no event: all of it goes by the lanes 0.
 * Called on the first loop. An implementation must not block, and must not throw but for what a
 * lane's frame has wrong, which ends the lane's connection.
 */
public interface PeerListener {
  /** The lane 0 to another bus is up. */
  void onLaneUp(Peer peer, LaneSender sender);

  /** It is not any more. */
  void onLaneDown(Peer peer);

  /** Nothing is kept for the other bus any more, until {@link Peer#revive}. */
  void onAbandoned(Peer peer);

  /** The other bus has applied a version of this bus's interest. */
  void onApplied(Peer peer, long version);

  /** The other bus asks for all of this bus's interest again. */
  void onWanted(Peer peer, LaneSender sender);

  /** All that the other bus had sent when it was asked has arrived. */
  void onSynced(Peer peer, long round);

  /** The other bus has opened its lane 0. */
  void onOpened(Peer peer, LaneReceiver receiver, int registryNumber);

  /** The other bus tells what its clients subscribe to. */
  void onInterest(Peer peer, LaneReceiver from, Interest interest);

  /** The other bus asks whether all that this one has sent to it has arrived. */
  void onSync(Peer peer, LaneReceiver from, long round);

  /** A connection of the other bus's lane 0 has ended. */
  void onGone(Peer peer, LaneReceiver receiver);
}
