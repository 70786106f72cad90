package io.eventbus.server.admin;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalNames;
import io.eventbus.server.admin.AdminApi.CallerAction;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalInfo;
import io.eventbus.server.durable.JournalName;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Resources of the administration port for the dead letters of shared durable subscriptions. Safe
 * for use by several threads.
 */
final class DeadEventApi {
  private final JournalApi api;

  /**
   * Creates the resources.
   *
   * @param api finds journals, and decides who may change them
   */
  DeadEventApi(JournalApi api) {
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        Route.get(JournalApi.ONE + "/dead", (CallerAction) this::list).ofJournals(),
        JournalApi.changes(Route.put(JournalApi.ONE + "/redrive", (CallerAction) this::redrive)));
  }

  /**
   * Dead event, as the API describes it. Its topic is not told: to find it takes reading a chunk of
   * the journal for each event.
   *
   * @param attempts how often it was delivered
   * @param reason why the last delivery failed; empty for none
   * @param time when it died
   */
  record Item(long position, int attempts, String reason, Instant time) {
    static Item of(DeadEvent event) {
      return new Item(
          event.position(), event.attempts(), event.reason(), Instant.ofEpochMilli(event.stamp()));
    }
  }

  private AdminReply list(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = api.scope(caller);
    QueryString query = request.query(Set.of("account", "durable", "after", "limit"));
    int limit = query.limit();
    JournalName name = JournalApi.name(query, path, scope);
    String durable = durable(query);
    long after = query.number("after", 0);
    if (after < 0 || after == Long.MAX_VALUE) {
      throw HttpFailure.badRequest("after: out of range (expected: a position)");
    }
    JournalInfo journal = api.find(name);
    check(journal, durable);
    JournalAdministration journals = api.journals();
    List<Item> found =
        JournalApi.read(() -> journals.deadEvents(journal, durable, after, limit + 1)).stream()
            .map(Item::of)
            .toList();
    Map<String, String> parameters = new LinkedHashMap<>();
    String account = scope.account(query.optional("account"));
    if (account != null) {
      parameters.put("account", account);
    }
    parameters.put("durable", durable);
    return AdminApi.page(
        found,
        limit,
        JournalApi.PATH + "/" + AdminApi.encoded(name.name()) + "/dead",
        parameters,
        item -> Long.toString(item.position()));
  }

  private AdminReply redrive(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = api.scope(caller);
    QueryString query = request.query(Set.of("account", "durable", "from", "to", "discard"));
    JournalName name = JournalApi.name(query, path, scope);
    String durable = durable(query);
    long from = query.number("from", 1);
    long to = query.number("to", Long.MAX_VALUE);
    if (from < 1 || to < from) {
      throw HttpFailure.badRequest("from, to: out of range (expected: 1 or more, from <= to)");
    }
    String discard = query.text("discard", "false");
    if (!discard.equals("true") && !discard.equals("false")) {
      throw HttpFailure.badRequest("discard: illegal (expected: true or false)");
    }
    JournalInfo journal = api.find(name);
    scope.check(journal.filters());
    check(journal, durable);
    // An end, so that events that die meanwhile do not keep it going.
    long last = Math.min(to, Math.max(from, api.figures(journal).lastPosition()));
    JournalAdministration journals = api.journals();
    long events =
        api.await(
            caller, () -> journals.redrive(name, durable, from, last, discard.equals("true")));
    return AdminReply.ok(Map.of("events", events));
  }

  private static String durable(QueryString query) throws HttpFailure {
    String durable = query.text("durable", "");
    if (JournalNames.problem(durable) != null) {
      throw HttpFailure.badRequest(
          "durable: missing or illegal (expected: the name of a durable subscription)");
    }
    return durable;
  }

  private void check(JournalInfo journal, String durable) throws HttpFailure {
    JournalAdministration journals = api.journals();
    CursorView cursor = JournalApi.read(() -> journals.cursor(journal, durable)).orElse(null);
    if (cursor == null) {
      throw new HttpFailure(
          404,
          "NOT_FOUND",
          "durable: "
              + durable
              + " (expected: a durable subscription of the journal "
              + journal.name().name()
              + ")");
    }
    if (cursor.mode() != CursorMode.SHARED) {
      throw new HttpFailure(
          409,
          "REFUSED",
          "durable: " + durable + " is not shared (expected: a shared durable subscription)");
    }
  }
}
