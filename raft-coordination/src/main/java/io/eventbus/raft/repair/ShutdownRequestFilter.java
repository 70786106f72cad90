package io.eventbus.raft.repair;

import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;

/**
 * Filter that keeps the Ratis of a removed member running.
 *
 * <p>The fault: a leader answers a candidate that is no member any more with the request to shut
 * down, and the candidate's Ratis ends, although the member may be admitted again. No upstream
 * ticket is known.
 *
 * <p>Remove when a removed member is told to become a listener or to stop its elections only:
 * {@code RatisFaultsTest.aLeaderTellsACandidateThatIsNoMemberToShutDown} fails then.
 */
public final class ShutdownRequestFilter {
  private ShutdownRequestFilter() {}

  /** Returns the same answer without the request to shut down. */
  public static RequestVoteReplyProto filter(RequestVoteReplyProto reply) {
    return reply.getShouldShutdown() ? reply.toBuilder().setShouldShutdown(false).build() : reply;
  }
}
