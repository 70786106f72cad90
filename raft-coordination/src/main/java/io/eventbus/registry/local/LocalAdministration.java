package io.eventbus.registry.local;

import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.RegistryAdministration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Operators find here that a bus that runs alone has nobody to hand anything to. */
final class LocalAdministration implements RegistryAdministration {
  @Override
  public CompletionStage<Void> transferLeadership(BusId to, Duration deadline) {
    Refusals.checkDeadline(deadline);
    return CompletableFuture.failedStage(
        new AdministrationRefusedException(
            "this bus runs alone (expected: a bus that belongs to a cluster)"));
  }

  @Override
  public CompletionStage<DepartureReport> leave(Departure departure, Duration deadline) {
    Refusals.checkDeadline(deadline);
    return CompletableFuture.completedStage(
        new DepartureReport(true, true, true, "this bus runs alone"));
  }
}
