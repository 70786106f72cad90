package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.RegistryUnavailableException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Operators' requests on their way to the leader: as the leader takes them from other buses, and as
 * another bus sends them.
 */
final class AdministrationService {
  private static final String REFUSED = "REFUSED";

  private final LinkNode links;
  private final PeerBook peers;
  private final Engine engine;
  private final LeaderAdministration leaders;
  private final String self;
  private final Executor callers;

  AdministrationService(
      LinkNode links,
      PeerBook peers,
      Engine engine,
      LeaderAdministration leaders,
      String self,
      Executor callers) {
    this.links = links;
    this.peers = peers;
    this.engine = engine;
    this.leaders = leaders;
    this.self = self;
    this.callers = callers;
  }

  void open() {
    links.offer(Services.ADMINISTRATION, this::onRequest);
  }

  void close() {
    links.withdraw(Services.ADMINISTRATION);
  }

  /** One try to have it done. It fails with a refusal, or with what another try may mend. */
  CompletableFuture<Void> submit(AdministrationRequest request, Duration left) {
    String leader = engine.leader();
    if (self.equals(leader)) {
      // As in CommandService: not on the engine's thread.
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
    Throwable cause = Attempts.unwrap(error);
    return cause instanceof LinkServiceException told && told.code().equals(REFUSED)
        ? new AdministrationRefusedException(String.valueOf(told.getMessage()))
        : cause;
  }

  private CompletionStage<byte[]> onRequest(LinkPeer peer, byte[] bytes) {
    AdministrationRequest request = AdministrationRequest.decode(bytes);
    if (!self.equals(engine.leader())) {
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
              Throwable cause = Attempts.unwrap(error);
              throw new LinkServiceException(
                  cause instanceof AdministrationRefusedException
                      ? REFUSED
                      : CommandService.UNCERTAIN,
                  String.valueOf(cause.getMessage()));
            });
  }
}
