package io.eventbus.registry.ratis.admin;

import io.eventbus.link.LinkException;
import io.eventbus.raft.RatisGroup;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.codec.BackupFormat;
import io.eventbus.registry.ratis.admin.AdministrationRequest.Operation;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Operations for operators, from this bus. */
public final class Administration implements RegistryAdministration {
  private final Member member;
  private final BusId bus;
  private final Supplier<RegistryException> notRunning;
  private final Set<LeaderRetry<?>> open;
  private final Clock clock;

  /**
   * Creates the operations of a bus.
   *
   * @param notRunning the error before and after it runs
   */
  public Administration(
      Member member,
      BusId bus,
      Supplier<RegistryException> notRunning,
      Set<LeaderRetry<?>> open,
      Clock clock) {
    this.member = member;
    this.bus = bus;
    this.notRunning = notRunning;
    this.open = open;
    this.clock = clock;
  }

  @Override
  public CompletionStage<Void> transferLeadership(BusId to, Duration deadline) {
    return ask(Operation.TRANSFER, to, null, deadline);
  }

  @Override
  public CompletionStage<DepartureReport> leave(Departure departure, Duration deadline) {
    Registry.checkDeadline(deadline);
    RatisGroup group = member.group();
    AdministrationService service = member.administration();
    if (group == null || service == null) {
      return CompletableFuture.completedStage(
          new DepartureReport(false, false, false, String.valueOf(notRunning.get().getMessage())));
    }
    return new Departing(member, group, service, bus, departure, deadline)
        .start()
        .minimalCompletionStage();
  }

  @Override
  public RegistryStatus status() {
    return member.report();
  }

  @Override
  public List<ClusterMember> members() {
    return member.members();
  }

  @Override
  public CompletionStage<Void> promote(BusId to, @Nullable BusId insteadOf, Duration deadline) {
    return ask(Operation.PROMOTE, to, insteadOf, deadline);
  }

  @Override
  public CompletionStage<Void> demote(BusId from, Duration deadline) {
    return ask(Operation.DEMOTE, from, null, deadline);
  }

  @Override
  public CompletionStage<Void> remove(BusId gone, Duration deadline) {
    return ask(Operation.REMOVE, gone, null, deadline);
  }

  @Override
  public CompletionStage<BusId> add(Endpoint address, Duration deadline) {
    Registry.checkDeadline(deadline);
    if (member.group() == null) {
      return CompletableFuture.failedStage(notRunning.get());
    }
    return attempted(left -> invited(address, left), deadline);
  }

  /** Checks once whether an invited bus is a member; it is invited again at the next check. */
  private CompletableFuture<BusId> invited(Endpoint address, Duration left) {
    return member
        .invite(address, left)
        .handle(
            (invited, error) -> {
              if (error != null) {
                throw refusedForEver(address, LeaderRetry.unwrap(error));
              }
              RatisGroup group = member.group();
              if (group != null && group.members().contains(invited.value())) {
                return invited;
              }
              throw new RegistryUnavailableException(
                  "bus " + invited + " at " + address + " is invited and has not joined yet");
            });
  }

  /** Returns the refusal if no waiting changes the answer. */
  private static RegistryException refusedForEver(Endpoint address, Throwable error) {
    return error instanceof LinkException link
            && link.refusal() != null
            && !link.refusal().isRetryable()
        ? new AdministrationRefusedException("the bus at " + address + ": " + link.getMessage())
        : new RegistryUnavailableException("the bus at " + address + ": " + error.getMessage());
  }

  @Override
  public CompletionStage<Long> takeSnapshot(Duration deadline) {
    Registry.checkDeadline(deadline);
    RatisGroup group = member.group();
    if (group == null) {
      return CompletableFuture.failedStage(notRunning.get());
    }
    return group
        .takeSnapshot(deadline.toMillis(), 1)
        .exceptionallyCompose(
            error ->
                CompletableFuture.failedFuture(
                    new RegistryTimeoutException(
                        "no snapshot: " + LeaderRetry.unwrap(error).getMessage(), true)))
        .completeOnTimeout(-1L, deadline.toNanos(), TimeUnit.NANOSECONDS)
        .thenCompose(
            index ->
                index >= 0
                    ? CompletableFuture.completedFuture(index)
                    : CompletableFuture.failedFuture(
                        new RegistryTimeoutException("no snapshot within " + deadline, true)))
        .minimalCompletionStage();
  }

  @Override
  public CompletionStage<Backup> backup(Duration deadline) {
    Registry.checkDeadline(deadline);
    CommandService commands = member.commands();
    if (commands == null) {
      return CompletableFuture.failedStage(notRunning.get());
    }
    return attempted(
        left ->
            commands
                .readIndex(left)
                .thenCompose(index -> member.awaitApplied(index, left))
                .thenApply(
                    applied ->
                        BackupFormat.of(
                            member.report().cluster(),
                            bus.value(),
                            clock.instant(),
                            member.state())),
        deadline);
  }

  /** Asks the leader, and again while there is none, until the deadline. */
  private CompletionStage<Void> ask(
      Operation operation, BusId about, @Nullable BusId other, Duration deadline) {
    Registry.checkDeadline(deadline);
    AdministrationService service = member.administration();
    if (service == null) {
      return CompletableFuture.failedStage(notRunning.get());
    }
    AtomicInteger tries = new AtomicInteger();
    return attempted(
        left ->
            service.submit(
                new AdministrationRequest(
                    operation, about, other, tries.getAndIncrement() > 0, (int) left.toMillis()),
                left),
        deadline);
  }

  private <T> CompletionStage<T> attempted(LeaderRetry.Attempt<T> attempt, Duration deadline) {
    return LeaderRetry.start(attempt, member.timers(), deadline, member::situation, open)
        .minimalCompletionStage();
  }
}
