package io.eventbus.server.federation.interest;

import io.eventbus.server.federation.lane.LaneReceiver;
import io.eventbus.server.federation.lane.Peer;
import org.jspecify.annotations.Nullable;

/** What the {@link InterestExchange} knows of another bus. On its loop. */
final class PeerStatus {
  final PeerInterest interest;

  /** Whether the registry names it. */
  boolean member;

  /** Whether it is given up, or has said goodbye. */
  boolean abandoned;

  /** Whether it is heard of again, and the lanes to it are about to keep what is for it. */
  boolean reviving;

  /**
   * The version that is acknowledged as applied once what is for the bus is kept again; -1 for
   * none.
   */
  long deferredApplied = -1;

  boolean wholeSent;
  long applied = -1;
  long instance;
  @Nullable LaneReceiver receiver;

  PeerStatus(PeerInterest interest) {
    this.interest = interest;
  }

  /** Whether promises wait for it. */
  boolean isAwaited(Peer peer) {
    boolean there = member || receiver != null || peer.lane(0).isUp();
    return there && !abandoned;
  }
}
