package io.eventbus.server.admin;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.DatedSnapshot;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.server.cluster.ClusterView;
import io.eventbus.server.cluster.MembershipStatus;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Registry in memory, with answers to operators as the test says. */
final class FakeCluster implements ClusterView, Registry {
  final FakeAdministration administration = new FakeAdministration();
  private final LocalRegistry local =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());

  @Override
  public Registry registry() {
    return this;
  }

  @Override
  public Optional<RatisRegistry> consensus() {
    return Optional.empty();
  }

  @Override
  public MembershipStatus standing() {
    return FakeBus.ALONE;
  }

  @Override
  public Duration leaseAge() {
    return Duration.ZERO;
  }

  @Override
  public Map<String, Long> refusedLinks() {
    return Map.of();
  }

  @Override
  public RegistryAdministration administration() {
    return administration;
  }

  @Override
  public CompletionStage<Void> start() {
    return local.start();
  }

  @Override
  public RegistryLifecycle lifecycle() {
    return local.lifecycle();
  }

  @Override
  public RegistrySnapshot snapshot() {
    return local.snapshot();
  }

  @Override
  public DatedSnapshot localRead() {
    return local.localRead();
  }

  @Override
  public CompletionStage<RegistrySnapshot> linearizableRead(Duration deadline) {
    return local.linearizableRead(deadline);
  }

  @Override
  public CompletionStage<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration deadline) {
    return local.submit(id, command, deadline);
  }

  @Override
  public ListenerRegistration addListener(RegistryListener listener) {
    return local.addListener(listener);
  }

  @Override
  public CompletionStage<Void> shutdown(Duration deadline) {
    return local.shutdown(deadline);
  }

  @Override
  public void close() {
    local.close();
  }
}
