package io.eventbus.raft;

import java.util.Objects;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;

/**
 * RPC type with which Ratis uses the links between buses. Ratis finds this class by its name and
 * creates an instance itself; no other code uses it.
 */
public final class LinkRpcType implements RpcType {
  private static final String TRANSPORT = "eventbus.raft.transport";

  /** Creates the type; called by Ratis. */
  public LinkRpcType() {}

  static Parameters parameters(RaftTransport transport) {
    Parameters parameters = new Parameters();
    parameters.put(TRANSPORT, transport, RaftTransport.class);
    return parameters;
  }

  /** Returns the name by which Ratis finds this class. */
  @Override
  public String name() {
    return LinkRpcType.class.getName();
  }

  /** Creates the factory that Ratis asks for its transport. */
  @Override
  public RpcFactory newFactory(Parameters parameters) {
    RaftTransport transport =
        Objects.requireNonNull(parameters.get(TRANSPORT, RaftTransport.class), TRANSPORT);
    return new Factory(this, transport);
  }

  private record Factory(LinkRpcType type, RaftTransport transport) implements ServerFactory {
    @Override
    public RpcType getRpcType() {
      return type;
    }

    @Override
    public LogAppender newLogAppender(
        RaftServer.Division server, LeaderState leader, FollowerInfo follower) {
      return new LinkAppender(server, leader, follower, transport, transport.settings());
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      transport.serve(server);
      return transport;
    }
  }
}
