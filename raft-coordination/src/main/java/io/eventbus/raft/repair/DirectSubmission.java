package io.eventbus.raft.repair;

import java.io.IOException;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;

/**
 * Look-up of the entry to a group that accepts a client's request on the caller's thread.
 *
 * <p>The gap: the front of Ratis ({@code RaftServerProxy}) hands every request to a thread of its
 * own, which waits for the group's answer. The group's implementation does the same work without,
 * but its interface, {@link RaftServer.Division}, does not show it. No upstream ticket is known.
 *
 * <p>Remove when the front submits on the caller's thread: {@code
 * RatisFaultsTest.theFrontSubmitsOnAnotherThread} fails then.
 */
public final class DirectSubmission {
  private DirectSubmission() {}

  /** Returns the group itself if it accepts requests, otherwise the front. */
  public static RaftClientAsynchronousProtocol of(RaftServer server, RaftGroupId group)
      throws IOException {
    return server.getDivision(group) instanceof RaftClientAsynchronousProtocol direct
        ? direct
        : server;
  }
}
