package io.eventbus.server.cluster;

import io.eventbus.link.LinkNode;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Departure;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.server.config.BuildInfo;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Membership of a bus that serves alone: the registry is in its memory, and no other bus takes part
 * in it.
 */
final class LocalMembership implements Membership {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** Lease of a bus that serves alone: no other could miss it, so it only has to be legal. */
  private static final Duration LEASE = Duration.ofHours(24);

  private final ServerConfig config;
  private final Registry registry;
  private volatile BusState state = BusState.JOINING;

  LocalMembership(ServerConfig config, Clock clock) {
    this.config = config;
    this.registry = new LocalRegistry(LocalRegistryOptions.DEFAULT, clock);
  }

  @Override
  public String busName() {
    return config.bus().name();
  }

  @Override
  public int linkPort() {
    return -1;
  }

  @Override
  public String linkAddress() {
    return "";
  }

  @Override
  public Optional<LinkNode> links() {
    return Optional.empty();
  }

  @Override
  public Optional<TlsSource> linkTls() {
    return Optional.empty();
  }

  @Override
  public Optional<byte[]> sharedKey(String purpose) {
    return Optional.empty();
  }

  @Override
  public boolean awaitRegistry(Duration limit) throws IOException {
    await(registry.start());
    return true;
  }

  @Override
  public void serve(InetSocketAddress clients, int adminPort, int storage) throws IOException {
    BusAddresses addresses =
        new SeedAddresses(config, "localhost").describe(clients, adminPort, null);
    BusDescription description =
        new BusDescription(
            new BusId(busName()),
            addresses,
            config.cluster().zone(),
            BuildInfo.version(),
            ClusterMembership.PROTOCOL_VERSION,
            storage);
    CommandResult result = submit(new BusCommand.Register(description, 0, LEASE.toMillis()));
    if (!(result instanceof CommandResult.BusRegistered registered)) {
      throw new IOException("the registry refused bus " + busName() + ": " + result);
    }
    CommandResult up =
        submit(new BusCommand.ChangeState(description.id(), registered.epoch(), BusState.UP));
    if (!(up instanceof CommandResult.BusStateChanged)) {
      throw new IOException("the registry refused to declare bus " + busName() + " UP: " + up);
    }
    state = BusState.UP;
  }

  private CommandResult submit(RegistryCommand command) throws IOException {
    return await(registry.submit(command, DEADLINE));
  }

  private static <T> T await(CompletionStage<T> stage) throws IOException {
    try {
      return stage.toCompletableFuture().get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while joining the registry", e);
    } catch (ExecutionException e) {
      throw new IOException("the registry failed: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new IOException("the registry did not answer within " + DEADLINE.toSeconds() + " s", e);
    }
  }

  @Override
  public List<String> others() {
    return List.of();
  }

  @Override
  public CompletionStage<String> refused() {
    return new CompletableFuture<>();
  }

  @Override
  public Registry registry() {
    return registry;
  }

  @Override
  public Optional<RatisRegistry> consensus() {
    return Optional.empty();
  }

  @Override
  public MembershipStatus standing() {
    MembershipStatus.Phase phase =
        state == BusState.JOINING ? MembershipStatus.Phase.JOINING : MembershipStatus.Phase.MEMBER;
    return new MembershipStatus(phase, "", "", "ALONE", state.name(), null, -1, 0, "");
  }

  @Override
  public Duration leaseAge() {
    return Duration.ZERO;
  }

  @Override
  public CompletionStage<Void> announce(BusState next) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void drain(Departure departure) {
    state = BusState.DRAINING;
  }

  @Override
  public void close() {
    registry.close();
    state = BusState.DOWN;
  }
}
