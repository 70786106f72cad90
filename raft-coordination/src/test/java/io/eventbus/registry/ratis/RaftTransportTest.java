package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RaftTransportTest {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private final ExecutorService workers = Executors.newFixedThreadPool(2);
  private final LinkNode here = node("bus-a");
  private final LinkNode there = node("bus-b");

  private static LinkNode node(String bus) {
    return new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(bus, ""), LinkSecurity.none());
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
    workers.shutdown();
  }

  /** An engine that tells everybody who stands for election to end. */
  private static RaftServer dismissive() {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("requestVote");
              return RequestVoteReplyProto.newBuilder().setTerm(7).setShouldShutdown(true).build();
            });
  }

  @Test
  void nothingReachesAnEngineThatHasNotStartedAndNobodyIsToldToEnd() throws IOException {
    InetSocketAddress address =
        there.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    RaftTransport theirs =
        new RaftTransport(there, new PeerBook(), address, DEADLINE, DEADLINE, workers);
    PeerBook peers = new PeerBook();
    peers.learn("bus-b", address);
    RaftTransport ours = new RaftTransport(here, peers, address, DEADLINE, DEADLINE, workers);
    RequestVoteRequestProto request =
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setReplyId(RaftPeerId.valueOf("bus-b").toByteString()))
            .build();

    theirs.serve(dismissive());
    assertThatThrownBy(() -> ours.requestVote(request)).isInstanceOf(IOException.class);

    theirs.start();
    RequestVoteReplyProto reply = ours.requestVote(request);
    assertThat(reply.getTerm()).isEqualTo(7);
    assertThat(reply.getShouldShutdown()).isFalse();
  }
}
