package io.eventbus.server.admin;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalNames;
import io.eventbus.journal.WaitingEvents;
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
import java.util.function.Function;

/**
 * Resources of the administration port for what is in flight, waits or is dead of shared durable
 * subscriptions. Safe for use by several threads.
 */
final class WorkQueueApi {
  private final JournalApi api;

  /**
   * Creates the resources.
   *
   * @param api finds journals, and decides who may change them
   */
  WorkQueueApi(JournalApi api) {
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        Route.get(JournalApi.ONE + "/consumers", (CallerAction) this::consumers).ofJournals(),
        Route.get(JournalApi.ONE + "/waiting", (CallerAction) this::waiting).ofJournals(),
        Route.get(JournalApi.ONE + "/dead", (CallerAction) this::dead).ofJournals(),
        JournalApi.changes(Route.put(JournalApi.ONE + "/redrive", (CallerAction) this::redrive)));
  }

  /**
   * Consumer, as the API describes it.
   *
   * @param number larger than those of the consumers that have joined before
   * @param bus its bus, and which start of that
   * @param events number of events that it has and has not settled
   * @param oldest position of the first of these; 0 if there are none
   */
  record Consumer(long number, String bus, int events, long oldest) {
    static Consumer of(ConsumerView consumer) {
      return new Consumer(consumer.epoch(), consumer.owner(), consumer.events(), consumer.oldest());
    }
  }

  /**
   * Events that wait for another delivery, as the API describes them.
   *
   * @param attempt number of that delivery
   * @param due when a consumer may get them
   */
  record Waiting(long from, long to, int attempt, Instant due) {
    static Waiting of(WaitingEvents events) {
      return new Waiting(
          events.from(), events.to(), events.attempt(), Instant.ofEpochMilli(events.due()));
    }

    String place() {
      return due.toEpochMilli() + ":" + from;
    }
  }

  /**
   * Dead letter, as the API describes it. Its topic is not told: to find it takes reading a chunk
   * of the journal for each event.
   *
   * @param attempts how often it was delivered
   * @param reason why the last delivery failed; empty for none
   * @param time when it died
   */
  record Dead(long position, int attempts, String reason, Instant time) {
    static Dead of(DeadEvent event) {
      return new Dead(
          event.position(), event.attempts(), event.reason(), Instant.ofEpochMilli(event.stamp()));
    }
  }

  private AdminReply consumers(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    return list(
        request,
        path,
        caller,
        "consumers",
        after -> {
          long epoch = number(after);
          return (journals, journal, durable, limit) ->
              journals.consumers(journal, durable, epoch, limit).stream()
                  .map(Consumer::of)
                  .toList();
        },
        consumer -> Long.toString(consumer.number()));
  }

  private AdminReply waiting(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    return list(
        request,
        path,
        caller,
        "waiting",
        after -> {
          int colon = after.indexOf(':');
          if (colon < 0 && !after.isEmpty()) {
            throw HttpFailure.badRequest("after: illegal (expected: time:position)");
          }
          long due = number(after.substring(0, Math.max(0, colon)));
          long position = number(after.substring(colon + 1));
          return (journals, journal, durable, limit) ->
              journals.waiting(journal, durable, due, position, limit).stream()
                  .map(Waiting::of)
                  .toList();
        },
        Waiting::place);
  }

  private AdminReply dead(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    return list(
        request,
        path,
        caller,
        "dead",
        after -> {
          long position = number(after);
          return (journals, journal, durable, limit) ->
              journals.deadEvents(journal, durable, position, limit).stream()
                  .map(Dead::of)
                  .toList();
        },
        event -> Long.toString(event.position()));
  }

  /** Part of a list, from a place on; waits for the disk. */
  private interface Part<T> {
    List<T> read(JournalAdministration journals, JournalInfo journal, String durable, int limit);
  }

  /** Reader of the place behind which a part begins; empty for the first. */
  private interface PartAfter<T> {
    Part<T> of(String after) throws HttpFailure;
  }

  private <T> AdminReply list(
      AdminRequest request,
      String path,
      AdminCaller caller,
      String resource,
      PartAfter<T> parts,
      Function<T, String> place)
      throws HttpFailure {
    JournalScope scope = api.scope(caller);
    QueryString query = request.query(Set.of("account", "durable", "after", "limit"));
    int limit = query.limit();
    JournalName name = JournalApi.name(query, path, scope);
    String durable = durable(query);
    Part<T> part = parts.of(query.text("after", ""));
    JournalInfo journal = api.find(name);
    check(journal, durable);
    JournalAdministration journals = api.journals();
    Map<String, String> parameters = new LinkedHashMap<>();
    String account = scope.account(query.optional("account"));
    if (account != null) {
      parameters.put("account", account);
    }
    parameters.put("durable", durable);
    return AdminApi.page(
        JournalApi.read(() -> part.read(journals, journal, durable, limit + 1)),
        limit,
        JournalApi.PATH + "/" + AdminApi.encoded(name.name()) + "/" + resource,
        parameters,
        place);
  }

  private static long number(String after) throws HttpFailure {
    long number = after.isEmpty() ? 0 : QueryString.parse("after", after);
    if (number < 0 || number == Long.MAX_VALUE) {
      throw HttpFailure.badRequest("after: out of range (expected: 0 or more)");
    }
    return number;
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
    if (cursor.mode() == CursorMode.EXCLUSIVE) {
      throw new HttpFailure(
          409,
          "REFUSED",
          "durable: " + durable + " is not shared (expected: a shared durable subscription)");
    }
  }
}
