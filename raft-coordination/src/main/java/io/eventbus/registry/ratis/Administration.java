package io.eventbus.registry.ratis;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.ratis.AdministrationRequest.Operation;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** What operators do, from this bus. */
final class Administration implements RegistryAdministration {
  private final RegistryMember member;
  private final BusId bus;
  private final Supplier<RegistryException> notRunning;
  private final Set<Attempts<?>> open;

  Administration(
      RegistryMember member,
      BusId bus,
      Supplier<RegistryException> notRunning,
      Set<Attempts<?>> open) {
    this.member = member;
    this.bus = bus;
    this.notRunning = notRunning;
    this.open = open;
  }

  @Override
  public CompletionStage<Void> transferLeadership(BusId to, Duration deadline) {
    return ask(Operation.TRANSFER, to, deadline);
  }

  @Override
  public CompletionStage<DepartureReport> leave(Departure departure, Duration deadline) {
    RatisRegistry.checkDeadline(deadline);
    Engine engine = member.engine();
    AdministrationService service = member.administration();
    if (engine == null || service == null) {
      return CompletableFuture.completedStage(
          new DepartureReport(false, false, false, String.valueOf(notRunning.get().getMessage())));
    }
    return new Departing(member, engine, service, bus, departure, deadline)
        .start()
        .minimalCompletionStage();
  }

  /** Asks the leader, and again while there is none, until the deadline. */
  private CompletionStage<Void> ask(Operation operation, BusId about, Duration deadline) {
    RatisRegistry.checkDeadline(deadline);
    AdministrationService service = member.administration();
    if (service == null) {
      return CompletableFuture.failedStage(notRunning.get());
    }
    AtomicInteger tries = new AtomicInteger();
    return Attempts.start(
            left ->
                service.submit(
                    new AdministrationRequest(
                        operation, about, tries.getAndIncrement() > 0, (int) left.toMillis()),
                    left),
            member.timers(),
            deadline,
            member::situation,
            open)
        .minimalCompletionStage();
  }
}
