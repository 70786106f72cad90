package io.eventbus.registry.ratis.admin;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import io.eventbus.registry.ratis.forward.Services;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Forwarding of operators' requests to the leader: accepts them from other buses at the leader, and
 * sends them from another bus.
 */
public final class AdministrationService {
  private static final String REFUSED = "REFUSED";

  private final LinkNode links;
  private final PeerBook peers;
  private final RatisGroup group;
  private final LeaderAdministration leaders;
  private final String self;
  private final Executor callers;

  /** Creates a service that is not offered yet. */
  public AdministrationService(
      LinkNode links,
      PeerBook peers,
      RatisGroup group,
      LeaderAdministration leaders,
      String self,
      Executor callers) {
    this.links = links;
    this.peers = peers;
    this.group = group;
    this.leaders = leaders;
    this.self = self;
    this.callers = callers;
  }

  /** Offers it to other buses. */
  public void open() {
    links.offer(Services.ADMINISTRATION, this::onRequest);
  }

  /** Withdraws it. */
  public void close() {
    links.withdraw(Services.ADMINISTRATION);
  }

  /**
   * Makes one attempt. It fails with a refusal, or with an error after which another attempt may
   * succeed.
   */
  CompletableFuture<Void> submit(AdministrationRequest request, Duration left) {
    String leader = group.leader();
    if (self.equals(leader)) {
      // As in CommandService: not on a thread of Ratis's.
      return leaders.carryOut(request).whenCompleteAsync((nothing, error) -> {}, callers);
    }
    InetSocketAddress address = leader == null ? null : peers.find(leader);
    if (address == null) {
      return CompletableFuture.failedFuture(
          new RegistryUnavailableException("no leader, or no address of it, is known"));
    }
    return links
        .call(address, Services.COMMANDS, Services.ADMINISTRATION, request.encode(), left)
        .<Void>thenApply(bytes -> null)
        .exceptionallyCompose(error -> CompletableFuture.failedFuture(meant(error)));
  }

  private static Throwable meant(Throwable error) {
    Throwable cause = LeaderRetry.unwrap(error);
    return cause instanceof LinkServiceException failure && failure.code().equals(REFUSED)
        ? new AdministrationRefusedException(String.valueOf(failure.getMessage()))
        : cause;
  }

  private CompletionStage<byte[]> onRequest(LinkPeer peer, byte[] bytes) {
    AdministrationRequest request = AdministrationRequest.decode(bytes);
    if (!self.equals(group.leader())) {
      throw new LinkServiceException(
          CommandService.NOT_LEADER, "bus " + self + " is not the leader");
    }
    if (request.operation() == AdministrationRequest.Operation.LEAVE
        && !request.bus().value().equals(peer.bus())) {
      throw new LinkServiceException(REFUSED, "bus " + peer.bus() + " speaks for another one");
    }
    return leaders
        .carryOut(request)
        .handle(
            (nothing, error) -> {
              if (error == null) {
                return new byte[0];
              }
              Throwable cause = LeaderRetry.unwrap(error);
              throw new LinkServiceException(
                  cause instanceof AdministrationRefusedException
                      ? REFUSED
                      : CommandService.UNCERTAIN,
                  String.valueOf(cause.getMessage()));
            });
  }
}
