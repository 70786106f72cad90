package io.eventbus.registry.local;

import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.MemberRole;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.codec.BackupFormat;
import io.eventbus.registry.state.RegistryState;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Operations for operators of a bus that runs alone: there is no other bus to hand anything to. */
final class LocalAdministration implements RegistryAdministration {
  private final Supplier<RegistryState> state;
  private final Clock clock;

  LocalAdministration(Supplier<RegistryState> state, Clock clock) {
    this.state = state;
    this.clock = clock;
  }

  @Override
  public RegistryStatus status() {
    RegistrySnapshot snapshot = state.get().snapshot();
    BusId self = snapshot.buses().stream().findFirst().map(BusInfo::id).orElse(null);
    return new RegistryStatus(
        "",
        self,
        MemberRole.LEADER,
        self,
        -1,
        0,
        false,
        snapshot.version(),
        RegistryStatus.Log.NONE,
        null,
        Duration.ZERO,
        CommitLatency.NONE);
  }

  @Override
  public List<ClusterMember> members() {
    return state.get().snapshot().buses().stream()
        .map(bus -> new ClusterMember(bus.id(), MemberRole.LEADER, "", bus, -1, 0))
        .toList();
  }

  @Override
  public CompletionStage<Void> transferLeadership(BusId to, Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<Void> promote(BusId bus, @Nullable BusId insteadOf, Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<Void> demote(BusId bus, Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<Void> remove(BusId bus, Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<BusId> add(Endpoint address, Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<Long> takeSnapshot(Duration deadline) {
    return refused(deadline);
  }

  @Override
  public CompletionStage<Backup> backup(Duration deadline) {
    Registry.checkDeadline(deadline);
    RegistryState now = state.get();
    String bus = now.snapshot().buses().stream().findFirst().map(b -> b.id().value()).orElse("");
    return CompletableFuture.completedStage(BackupFormat.of("", bus, clock.instant(), now));
  }

  @Override
  public CompletionStage<DepartureReport> leave(Departure departure, Duration deadline) {
    Registry.checkDeadline(deadline);
    return CompletableFuture.completedStage(
        new DepartureReport(true, true, true, "this bus runs alone"));
  }

  private static <T> CompletionStage<T> refused(Duration deadline) {
    Registry.checkDeadline(deadline);
    return CompletableFuture.failedStage(
        new AdministrationRefusedException(
            "this bus runs alone (expected: a bus that belongs to a cluster)"));
  }
}
