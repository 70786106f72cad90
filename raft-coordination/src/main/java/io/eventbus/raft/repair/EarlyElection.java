package io.eventbus.raft.repair;

import java.io.IOException;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Start of an election by a voter before its time-out.
 *
 * <p>The gap: Ratis has no call for that. It is given the message with which a leader hands over
 * its leadership, in the name of the leader that has crashed; an election that is begun by it has
 * no pre-vote. No upstream ticket is known.
 *
 * <p>Remove together with {@link LeaderCrashDetector}, or when Ratis has a method for a follower to
 * begin an election.
 */
public final class EarlyElection {
  private EarlyElection() {}

  /**
   * Stands for election, unless Ratis knows another leader meanwhile or this log does not reach
   * into the leader's term.
   */
  public static boolean stand(
      RaftServer server, RaftGroupId group, RaftPeerId self, RaftPeerId leader) throws IOException {
    TermIndex last = server.getDivision(group).getRaftLog().getLastEntryTermIndex();
    if (last == null || !leader.equals(server.getDivision(group).getInfo().getLeaderId())) {
      return false;
    }
    return server
        .startLeaderElection(
            StartLeaderElectionRequestProto.newBuilder()
                .setServerRequest(
                    RaftRpcRequestProto.newBuilder()
                        .setRequestorId(leader.toByteString())
                        .setReplyId(self.toByteString())
                        .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(group.toByteString())))
                .setLeaderLastEntry(last.toProto())
                .build())
        .getServerReply()
        .getSuccess();
  }
}
