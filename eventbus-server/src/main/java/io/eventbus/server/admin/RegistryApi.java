package io.eventbus.server.admin;

import io.eventbus.registry.Backup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.server.admin.AdminApi.Page;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.admin.RegistryReport.Member;
import io.eventbus.server.view.BusView;
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
 * Resources of the administration port for the registry. Safe for use by several threads.
 *
 * <p>Changes are PUT or DELETE, which a page of another origin cannot send. Requests may wait: at
 * most {@value WaitingCalls#MAX_CALLS} for the leader and {@value #MAX_WATCHERS} for a change, so
 * that threads are left for everything else.
 */
final class RegistryApi implements AutoCloseable {
  static final int MAX_WATCHERS = 3;

  private static final Duration DEADLINE = WaitingCalls.DEADLINE;

  private static final Duration MAX_WATCH = Duration.ofSeconds(5);
  private static final Pattern ENDPOINT = Pattern.compile("\\[?([^\\[\\]]+?)\\]?:(\\d{1,5})");

  private final BusView bus;
  private final RegistryJournal journal = new RegistryJournal();
  private final WaitingCalls calls;
  private final Semaphore watchers = new Semaphore(MAX_WATCHERS);

  RegistryApi(BusView bus, WaitingCalls calls) {
    this.bus = bus;
    this.calls = calls;
  }

  List<Route> routes() {
    String root = "/api/v1/registry";
    return List.of(
        Route.get(root, (request, id) -> status(request)),
        Route.get(root + "/members", (request, id) -> members(request)),
        Route.put(root + "/members", (request, id) -> add(request)).forRole(AdminRole.ADMIN),
        Route.delete(
                root + "/members/{id}",
                (request, id) -> done(request, a -> a.remove(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.get(root + "/leader", (request, id) -> leader(request)),
        Route.put(
                root + "/leader/{id}",
                (request, id) -> done(request, a -> a.transferLeadership(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.put(root + "/voters/{id}", this::promote).forRole(AdminRole.ADMIN),
        Route.delete(
                root + "/voters/{id}",
                (request, id) -> done(request, a -> a.demote(bus(id), DEADLINE)))
            .forRole(AdminRole.ADMIN),
        Route.put(root + "/snapshot", (request, id) -> snapshot(request)).forRole(AdminRole.ADMIN),
        Route.get(root + "/changes", (request, id) -> changes(request)),
        Route.get(root + "/backup", (request, id) -> backup(request)).forRole(AdminRole.ADMIN));
  }

  private RegistryAdministration administration() {
    return bus.cluster().registry().administration();
  }

  private AdminReply status(AdminRequest request) throws HttpFailure {
    none(request);
    return AdminReply.ok(RegistryReport.of(administration().status()));
  }

  private AdminReply members(AdminRequest request) throws HttpFailure {
    none(request);
    return AdminReply.ok(
        new Page<>(administration().members().stream().map(Member::of).toList(), null));
  }

  private AdminReply leader(AdminRequest request) throws HttpFailure {
    none(request);
    RegistryReport report = RegistryReport.of(administration().status());
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("leader", report.leader());
    told.put("term", report.term());
    return AdminReply.ok(told);
  }

  private AdminReply add(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("address"));
    Endpoint address = endpoint(query.text("address", ""));
    BusId added = await(a -> a.add(address, DEADLINE));
    return AdminReply.ok(Map.of("bus", added.value()));
  }

  private AdminReply promote(AdminRequest request, String id) throws HttpFailure {
    QueryString query = request.query(Set.of("instead-of"));
    String other = query.text("instead-of", "");
    await(a -> a.promote(bus(id), other.isEmpty() ? null : bus(other), DEADLINE));
    return AdminReply.ok(Map.of("done", true));
  }

  private AdminReply snapshot(AdminRequest request) throws HttpFailure {
    none(request);
    Long index = await(a -> a.takeSnapshot(DEADLINE));
    return AdminReply.ok(Map.of("index", index));
  }

  private AdminReply changes(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("after", "wait"));
    long after = query.number("after", -1);
    long wait = query.number("wait", 0);
    if (wait < 0 || wait > MAX_WATCH.toMillis()) {
      throw HttpFailure.badRequest(
          "wait: out of range (expected: 0 to " + MAX_WATCH.toMillis() + " ms)");
    }
    WaitingCalls.enter(watchers, MAX_WATCHERS, "the registry");
    try {
      return AdminReply.ok(
          journal.since(bus.cluster().registry(), after, TimeUnit.MILLISECONDS.toNanos(wait)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HttpFailure(503, "STOPPING", "the bus stops");
    } finally {
      watchers.release();
    }
  }

  private AdminReply backup(AdminRequest request) throws HttpFailure {
    none(request);
    Backup backup = await(a -> a.backup(DEADLINE));
    return new AdminReply(
        200,
        (AdminReply.Download) backup::writeTo,
        Map.of("Content-Disposition", List.of("attachment; filename=\"registry.backup\"")));
  }

  private interface Operation<T> {
    CompletionStage<T> begin(RegistryAdministration administration) throws HttpFailure;
  }

  private AdminReply done(AdminRequest request, Operation<Void> operation) throws HttpFailure {
    none(request);
    await(operation);
    return AdminReply.ok(Map.of("done", true));
  }

  /** Waits for the registry; what it refuses is told in its own words. */
  private <T> T await(Operation<T> operation) throws HttpFailure {
    return calls.await(() -> operation.begin(administration()));
  }

  private static void none(AdminRequest request) throws HttpFailure {
    request.query(Set.of());
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
