package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpExchange;
import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.server.admin.AdminApi.Page;
import io.eventbus.server.admin.AdminApi.Reply;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.admin.RegistryReport.Member;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The registry's resources of the administration port. Safe for use by several threads.
 *
 * <p>What changes something is PUT or DELETE, which a page of another origin cannot send. Some
 * requests wait: at most {@value RegistryCalls#MOST} for the leader and {@value #MAX_WATCHERS} for
 * a change, so that threads are left for everything else.
 */
final class RegistryApi implements AutoCloseable {
  static final int MAX_WATCHERS = 3;

  private static final Duration DEADLINE = RegistryCalls.DEADLINE;

  private static final Duration LONGEST_WATCH = Duration.ofSeconds(5);
  private static final Pattern ENDPOINT = Pattern.compile("\\[?([^\\[\\]]+?)\\]?:(\\d{1,5})");

  private final BusView bus;
  private final RegistryJournal journal = new RegistryJournal();
  private final RegistryCalls calls;
  private final Semaphore watchers = new Semaphore(MAX_WATCHERS);

  RegistryApi(BusView bus, RegistryCalls calls) {
    this.bus = bus;
    this.calls = calls;
  }

  List<Route> routes() {
    String root = "/api/v1/registry";
    return List.of(
        Route.get(root, (exchange, id) -> status(exchange)),
        Route.get(root + "/members", (exchange, id) -> members(exchange)),
        Route.put(root + "/members", (exchange, id) -> add(exchange)).forRole(AdminRole.ADMIN),
        Route.delete(
                root + "/members/{id}",
                (exchange, id) -> done(exchange, a -> a.remove(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.get(root + "/leader", (exchange, id) -> leader(exchange)),
        Route.put(
                root + "/leader/{id}",
                (exchange, id) -> done(exchange, a -> a.transferLeadership(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.put(root + "/voters/{id}", this::promote).forRole(AdminRole.ADMIN),
        Route.delete(
                root + "/voters/{id}",
                (exchange, id) -> done(exchange, a -> a.demote(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.put(root + "/snapshot", (exchange, id) -> snapshot(exchange))
            .forRole(AdminRole.ADMIN),
        Route.get(root + "/changes", (exchange, id) -> changes(exchange)),
        Route.get(root + "/backup", (exchange, id) -> backup(exchange)).forRole(AdminRole.ADMIN));
  }

  private RegistryAdministration administration() {
    return bus.cluster().registry().administration();
  }

  private Reply status(HttpExchange exchange) throws HttpFailure {
    none(exchange);
    return Reply.ok(RegistryReport.of(administration().status()));
  }

  private Reply members(HttpExchange exchange) throws HttpFailure {
    none(exchange);
    return Reply.ok(new Page<>(administration().members().stream().map(Member::of).toList(), null));
  }

  private Reply leader(HttpExchange exchange) throws HttpFailure {
    none(exchange);
    RegistryReport report = RegistryReport.of(administration().status());
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("leader", report.leader());
    told.put("term", report.term());
    return Reply.ok(told);
  }

  private Reply add(HttpExchange exchange) throws HttpFailure {
    QueryString query = new QueryString(exchange.getRequestURI(), Set.of("address"));
    Endpoint address = endpoint(query.text("address", ""));
    BusId added = await(a -> a.add(address, DEADLINE));
    return Reply.ok(Map.of("bus", added.value()));
  }

  private Reply promote(HttpExchange exchange, String id) throws HttpFailure {
    QueryString query = new QueryString(exchange.getRequestURI(), Set.of("instead-of"));
    String other = query.text("instead-of", "");
    await(a -> a.promote(bus(id), other.isEmpty() ? null : bus(other), DEADLINE));
    return Reply.ok(Map.of("done", true));
  }

  private Reply snapshot(HttpExchange exchange) throws HttpFailure {
    none(exchange);
    Long index = await(a -> a.takeSnapshot(DEADLINE));
    return Reply.ok(Map.of("index", index));
  }

  private Reply changes(HttpExchange exchange) throws HttpFailure {
    QueryString query = new QueryString(exchange.getRequestURI(), Set.of("after", "wait"));
    long after = query.number("after", -1);
    long wait = query.number("wait", 0);
    if (wait < 0 || wait > LONGEST_WATCH.toMillis()) {
      throw HttpFailure.badRequest(
          "wait: out of range (expected: 0 to " + LONGEST_WATCH.toMillis() + " ms)");
    }
    RegistryCalls.enter(watchers, MAX_WATCHERS);
    try {
      return Reply.ok(
          journal.since(bus.cluster().registry(), after, TimeUnit.MILLISECONDS.toNanos(wait)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HttpFailure(503, "STOPPING", "the bus stops");
    } finally {
      watchers.release();
    }
  }

  private Reply backup(HttpExchange exchange) throws HttpFailure {
    none(exchange);
    Backup backup = await(a -> a.backup(DEADLINE));
    exchange
        .getResponseHeaders()
        .set("Content-Disposition", "attachment; filename=\"registry.backup\"");
    return Reply.ok((AdminApi.Download) backup::writeTo);
  }

  private interface Operation<T> {
    CompletionStage<T> begin(RegistryAdministration administration) throws HttpFailure;
  }

  private Reply done(HttpExchange exchange, Operation<Void> operation) throws HttpFailure {
    none(exchange);
    await(operation);
    return Reply.ok(Map.of("done", true));
  }

  /** Waits for the registry; what it refuses is told in its own words. */
  private <T> T await(Operation<T> operation) throws HttpFailure {
    return calls.await(() -> operation.begin(administration()));
  }

  private static void none(HttpExchange exchange) throws HttpFailure {
    new QueryString(exchange.getRequestURI(), Set.of());
  }

  private static BusId bus(String id) throws HttpFailure {
    try {
      return new BusId(id);
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest("bus: illegal (expected: the name of a bus)");
    }
  }

  private static Endpoint endpoint(String text) throws HttpFailure {
    Matcher parts = ENDPOINT.matcher(text);
    try {
      if (parts.matches()) {
        return new Endpoint(parts.group(1), Integer.parseInt(parts.group(2)));
      }
    } catch (IllegalArgumentException e) {
      // Told below.
    }
    throw HttpFailure.badRequest("address: illegal (expected: host:port of a bus's links)");
  }

  @Override
  public void close() {
    journal.close();
  }
}
