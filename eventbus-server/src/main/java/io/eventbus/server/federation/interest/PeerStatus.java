package io.eventbus.server.federation.interest;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.lane.Peer;
import org.jspecify.annotations.Nullable;

/** Status of a peer in the {@link InterestExchange}. Confined to its loop. */
final class PeerStatus {
  final PeerInterest interest;

  /** True if the registry lists it. */
  boolean member;

  /** True if it is given up, or has said goodbye. */
  boolean abandoned;

  /** True if it is heard of again, and its lanes are about to keep frames for it. */
  boolean resuming;

  /** Version to acknowledge as applied once frames for the peer are kept again; -1 for none. */
  long deferredApplied = -1;

  boolean wholeSent;
  long applied = -1;
  long instance;
  @Nullable StreamConnection receiver;

  PeerStatus(PeerInterest interest) {
    this.interest = interest;
  }

  /** Returns whether promises wait for it. */
  boolean isAwaited(Peer peer) {
    boolean there = member || receiver != null || peer.lane(0).isUp();
    return there && !abandoned;
  }
}
