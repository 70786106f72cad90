package io.eventbus.raft.repair;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeerId;

/** Other servers, which vote for every candidate and have their entries on the disk at once. */
final class PlayedServers {
  private final Set<RaftPeerId> withoutAppends = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;

  /** Cuts all of them off from now on. */
  PlayedServers cut() {
    cut = true;
    return this;
  }

  /** Cuts these off from entries and heartbeats from now on, but not from candidates. */
  PlayedServers cutAppends(String... servers) {
    for (String server : servers) {
      withoutAppends.add(RaftPeerId.valueOf(server));
    }
    return this;
  }

  Object answer(String method, Object[] arguments) throws IOException {
    if (!cut && arguments != null && arguments.length > 0) {
      if (arguments[0] instanceof RequestVoteRequestProto vote) {
        return RequestVoteReplyProto.newBuilder()
            .setServerReply(success(vote.getServerRequest()))
            .setTerm(vote.getCandidateTerm())
            .build();
      }
      if (arguments[0] instanceof AppendEntriesRequestProto append
          && !withoutAppends.contains(RaftPeerId.valueOf(append.getServerRequest().getReplyId()))) {
        return append(append);
      }
    }
    throw new IOException("a message that is lost: " + method);
  }

  private static AppendEntriesReplyProto append(AppendEntriesRequestProto request) {
    int entries = request.getEntriesCount();
    long last =
        entries > 0
            ? request.getEntries(entries - 1).getIndex()
            : request.hasPreviousLog() ? request.getPreviousLog().getIndex() : -1;
    return AppendEntriesReplyProto.newBuilder()
        .setServerReply(success(request.getServerRequest()))
        .setTerm(request.getLeaderTerm())
        .setNextIndex(last + 1)
        .setMatchIndex(last)
        .setFollowerCommit(request.getLeaderCommit())
        .setResult(AppendResult.SUCCESS)
        .setIsHearbeat(entries == 0)
        .build();
  }

  private static RaftRpcReplyProto success(RaftRpcRequestProto request) {
    return RaftRpcReplyProto.newBuilder()
        .setRequestorId(request.getRequestorId())
        .setReplyId(request.getReplyId())
        .setRaftGroupId(request.getRaftGroupId())
        .setCallId(request.getCallId())
        .setSuccess(true)
        .build();
  }
}
