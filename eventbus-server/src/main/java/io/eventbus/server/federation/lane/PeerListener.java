package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.schema.Interest;

/**
 * Listener for control frames and connections of peers; all of them use the lanes 0. Called on the
 * first loop. An implementation must not block, and must not throw except for an invalid frame,
 * which ends the lane's connection.
 */
public interface PeerListener {
  /** Called when the lane 0 to a peer is up. */
  void onLaneUp(Peer peer, StreamConnection sender);

  /** Called when it is no longer up. */
  void onLaneDown(Peer peer);

  /** Called when nothing is kept for the peer any more, until {@link Peer#resume}. */
  void onAbandoned(Peer peer);

  /** Called when the peer has applied a version of this bus's interest. */
  void onApplied(Peer peer, long version);

  /** Called when the peer asks for all of this bus's interest again. */
  void onInterestRequested(Peer peer, StreamConnection sender);

  /** Called when everything that the peer had sent when it was asked has arrived. */
  void onSynced(Peer peer, long round);

  /** Called when the peer has opened its lane 0. */
  void onOpened(Peer peer, StreamConnection receiver, int registryNumber);

  /** Called with interest of the peer's clients. */
  void onInterest(Peer peer, StreamConnection from, Interest interest);

  /** Called when the peer asks whether everything that this bus has sent to it has arrived. */
  void onSync(Peer peer, StreamConnection from, long round);

  /** Called when a connection of the peer's lane 0 has ended. */
  void onGone(Peer peer, StreamConnection receiver);
}
