package io.eventbus.server.admin;

import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.MemberRole;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.codec.BackupFormat;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Administration that remembers requests, and answers as the test says. */
final class FakeAdministration implements RegistryAdministration {
  volatile Backup backup =
      BackupFormat.of(
          "00000000-0000-4000-8000-000000000001",
          "bus-a",
          FakeBus.STARTED,
          RegistryState.empty(RegistryLimits.DEFAULT, 1));

  final List<String> asked = new ArrayList<>();
  volatile @Nullable RegistryException failure;
  volatile @Nullable BusId leader = new BusId("bus-a");

  /** Gate that every operation waits for. */
  volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

  private synchronized <T> CompletionStage<T> answer(String what, T value) {
    asked.add(what);
    RegistryException error = failure;
    return gate.thenCompose(
        nothing ->
            error == null
                ? CompletableFuture.completedFuture(value)
                : CompletableFuture.failedFuture(error));
  }

  // The port's stages of nothing complete with null.
  @SuppressWarnings("NullAway")
  private CompletionStage<Void> done(String what) {
    return answer(what, (Void) null);
  }

  @Override
  public RegistryStatus status() {
    return new RegistryStatus(
        "00000000-0000-4000-8000-000000000001",
        new BusId("bus-a"),
        MemberRole.LEADER,
        leader,
        7,
        2,
        false,
        42,
        new RegistryStatus.Log(100, 97, 50, 60, 8_388_608),
        Duration.ofMillis(1_500),
        Duration.ofMillis(20),
        new CommitLatency(
            3,
            Duration.ofMillis(6),
            Duration.ofMillis(4),
            List.of(
                new CommitLatency.Bucket(Duration.ofMillis(1), 1),
                new CommitLatency.Bucket(Duration.ofMillis(2), 2))));
  }

  @Override
  public List<ClusterMember> members() {
    return List.of(
        new ClusterMember(
            new BusId("bus-a"), MemberRole.LEADER, "127.0.0.1:8082", null, 100, 2_000),
        new ClusterMember(new BusId("bus-b"), MemberRole.LISTENER, "", null, -1, 0));
  }

  @Override
  public CompletionStage<Void> transferLeadership(BusId to, Duration deadline) {
    return done("transfer " + to);
  }

  @Override
  public CompletionStage<Void> promote(BusId bus, @Nullable BusId insteadOf, Duration deadline) {
    return done("promote " + bus + " instead of " + insteadOf);
  }

  @Override
  public CompletionStage<Void> demote(BusId bus, Duration deadline) {
    return done("demote " + bus);
  }

  @Override
  public CompletionStage<Void> remove(BusId bus, Duration deadline) {
    return done("remove " + bus);
  }

  @Override
  public CompletionStage<BusId> add(Endpoint address, Duration deadline) {
    return answer("add " + address, new BusId("bus-n"));
  }

  @Override
  public CompletionStage<Long> takeSnapshot(Duration deadline) {
    return answer("snapshot", 97L);
  }

  @Override
  public CompletionStage<Backup> backup(Duration deadline) {
    return answer("backup", backup);
  }

  @Override
  public CompletionStage<DepartureReport> leave(Departure departure, Duration deadline) {
    return answer("leave", new DepartureReport(false, false, false, ""));
  }
}
