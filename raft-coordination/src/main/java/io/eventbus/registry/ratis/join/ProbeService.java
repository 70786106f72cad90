package io.eventbus.registry.ratis.join;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.forward.Services;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * Service that tells buses which look for a cluster this bus's status, and invites others. Any
 * thread.
 */
public final class ProbeService {
  private final LinkNode links;
  private final PeerBook peers;
  private final JoinAdmission.Joiner self;
  private final Predicate<String> alive;

  /** Creates a service that is not offered yet. */
  public ProbeService(
      LinkNode links, PeerBook peers, JoinAdmission.Joiner self, Predicate<String> alive) {
    this.links = links;
    this.peers = peers;
    this.self = self;
    this.alive = alive;
  }

  /** Offers it to other buses. */
  public void open(BootstrapElection election) {
    links.offer(Services.PROBE, (peer, request) -> onProbe(election, peer, request));
  }

  /** Withdraws it. */
  public void close() {
    links.withdraw(Services.PROBE);
  }

  private CompletableFuture<byte[]> onProbe(
      BootstrapElection election, LinkPeer peer, byte[] request) {
    JoinMessages.Question question = JoinMessages.Question.decode(request);
    if (!question.bus().equals(self.bus()) && !alive.test(peer.bus())) {
      peers.learn(peer.bus(), question.address().unresolved());
    }
    return CompletableFuture.completedFuture(election.answer(question).encode());
  }

  /** Asks a bus that waits for others to join here; the future has its id. */
  public CompletableFuture<BusId> invite(Endpoint address, Duration deadline) {
    JoinMessages.Question question =
        new JoinMessages.Question(
            self.bus(),
            links.identity().instance(),
            self.advertised(),
            JoinMessages.JoinIntent.INVITATION);
    return links
        .call(address.unresolved(), Services.COMMANDS, Services.PROBE, question.encode(), deadline)
        .thenApply(answer -> JoinMessages.Answer.decode(answer).bus());
  }
}
