package io.eventbus.registry.ratis;

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
 * Makes the engine use the links between buses. The engine finds this class by its name and makes
 * an instance itself; nobody else needs it.
 */
public final class LinkRpcType implements RpcType {
  private static final String TRANSPORT = "eventbus.raft.transport";

  /** Made by the engine. */
  public LinkRpcType() {}

  static Parameters parameters(RaftTransport transport) {
    Parameters parameters = new Parameters();
    parameters.put(TRANSPORT, transport, RaftTransport.class);
    return parameters;
  }

  /**
   * Returns the name by which the engine finds this class.
   *
   * @return the class's name
   */
  @Override
  public String name() {
    return LinkRpcType.class.getName();
  }

  /**
   * Makes what the engine asks for its transport.
   *
   * @param parameters what was handed to the engine
   * @return the factory
   */
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
      return new LinkAppender(server, leader, follower, transport);
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      transport.serve(server);
      return transport;
    }
  }
}
