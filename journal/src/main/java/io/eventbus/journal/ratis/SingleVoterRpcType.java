package io.eventbus.journal.ratis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/**
 * RPC type of a server whose groups have no other members: there is no network. Ratis finds this
 * class by its name and creates an instance itself; no other code uses it.
 */
public final class SingleVoterRpcType implements RpcType {
  /** Creates the type; called by Ratis. */
  public SingleVoterRpcType() {}

  /** Returns the name by which Ratis finds this class. */
  @Override
  public String name() {
    return SingleVoterRpcType.class.getName();
  }

  /** Creates the factory that Ratis asks for its transport. */
  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new Factory(this);
  }

  private record Factory(SingleVoterRpcType type) implements ServerFactory {
    @Override
    public RpcType getRpcType() {
      return type;
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      return new NoNetwork(type);
    }
  }

  private record NoNetwork(SingleVoterRpcType type) implements RaftServerRpc {
    private static IOException nobody(String request) {
      return new IOException(request + ": sent to nobody (expected: a group of one voter)");
    }

    @Override
    public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
      throw nobody("vote");
    }

    @Override
    public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
        throws IOException {
      throw nobody("entries");
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
        throws IOException {
      throw nobody("snapshot");
    }

    @Override
    public StartLeaderElectionReplyProto startLeaderElection(
        StartLeaderElectionRequestProto request) throws IOException {
      throw nobody("election");
    }

    @Override
    public void addRaftPeers(Collection<RaftPeer> peers) {}

    @Override
    public void handleException(RaftPeerId peer, Exception e, boolean reconnect) {}

    @Override
    public RpcType getRpcType() {
      return type;
    }

    @Override
    public void start() {}

    @Override
    public InetSocketAddress getInetSocketAddress() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Override
    public void close() {}
  }
}
