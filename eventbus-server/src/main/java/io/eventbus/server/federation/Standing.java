package io.eventbus.server.federation;

import org.jspecify.annotations.Nullable;

/** How another bus stands with this one, for the {@link InterestExchange}. On its loop. */
final class Standing {
  final PeerInterest interest;

  /** Whether the registry names it. */
  boolean member;

  /** Whether it is given up, or has said goodbye. */
  boolean abandoned;

  /** Whether it is heard of again, and the lanes to it are being told. */
  boolean returning;

  /** The version that the bus hears to be applied once its events are taken again; -1 for none. */
  long owed = -1;

  boolean wholeSent;
  long applied = -1;
  long instance;
  @Nullable LaneReceiver receiver;

  Standing(PeerInterest interest) {
    this.interest = interest;
  }

  /** Whether promises wait for it. */
  boolean isAwaited(Peer peer) {
    boolean there = member || receiver != null || peer.lane(0).isUp();
    return there && !abandoned;
  }
}
