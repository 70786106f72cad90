package io.eventbus.server.admin;

import io.eventbus.base.StageFailures;
import io.eventbus.server.admin.AdminApi.Page;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.view.BusView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Resources of the administration port that show the load of the buses and move clients. Safe for
 * use by several threads.
 */
final class BalanceApi {
  /**
   * Maximum of requests that wait for another bus, so that threads are left for everything else.
   */
  static final int MAX_OPERATIONS = 2;

  private static final long TIMEOUT_SECONDS = 5;

  private final BusView bus;
  private final Semaphore operations = new Semaphore(MAX_OPERATIONS);

  BalanceApi(BusView bus) {
    this.bus = bus;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/api/v1/buses",
            (request, id) -> AdminReply.ok(new Page<>(bus.balance().buses(), null))),
        Route.get("/api/v1/balance", (request, id) -> AdminReply.ok(bus.balance().status())),
        Route.put("/api/v1/drains/{id}", (request, id) -> drain(request, id, true, false)),
        Route.put("/api/v1/drains/{id}/for-good", (request, id) -> drain(request, id, true, true))
            .forRole(AdminRole.ADMIN),
        Route.delete("/api/v1/drains/{id}", (request, id) -> drain(request, id, false, false)),
        Route.put("/api/v1/moves/{id}", this::move));
  }

  private AdminReply drain(AdminRequest request, String name, boolean on, boolean forGood)
      throws HttpFailure {
    request.query(Set.of());
    JournalAdministration journals = bus.journals();
    await(bus.balance().drain(name, on, forGood));
    Map<String, Object> told = new LinkedHashMap<>(Map.of("bus", name, "draining", on));
    String warning = on && !forGood && journals != null ? journals.warning(name) : null;
    if (warning != null) {
      told.put("warning", warning);
    }
    return new AdminReply(202, told);
  }

  private AdminReply move(AdminRequest request, String id) throws HttpFailure {
    QueryString query = request.query(Set.of("to"));
    String target = await(bus.balance().move(QueryString.parse("id", id), query.text("to", "")));
    return new AdminReply(202, Map.of("bus", target));
  }

  private <T> T await(CompletionStage<T> stage) throws HttpFailure {
    if (!operations.tryAcquire()) {
      throw new HttpFailure(
          503, "BUSY", "too many requests wait for other buses (expected: " + MAX_OPERATIONS + ")");
    }
    try {
      return stage.toCompletableFuture().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HttpFailure(503, "STOPPING", "the bus stops");
    } catch (TimeoutException e) {
      throw new HttpFailure(504, "TIMEOUT", "the other bus did not answer in time");
    } catch (ExecutionException e) {
      throw failure(e.getCause() == null ? e : e.getCause());
    } finally {
      operations.release();
    }
  }

  private static HttpFailure failure(Throwable error) {
    Throwable cause = StageFailures.unwrap(error);
    String message = String.valueOf(cause.getMessage());
    if (cause instanceof IllegalArgumentException) {
      return new HttpFailure(404, "NOT_FOUND", message);
    }
    return cause instanceof IllegalStateException
        ? new HttpFailure(409, "REFUSED", message)
        : new HttpFailure(503, "UNAVAILABLE", message);
  }
}
