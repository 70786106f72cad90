package io.eventbus.server.admin;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.registry.BusId;
import io.eventbus.server.admin.AdminApi.CallerAction;
import io.eventbus.server.admin.AdminApi.Page;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.durable.DefinitionText;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalInfo;
import io.eventbus.server.durable.JournalName;
import io.eventbus.server.durable.ShardView;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.view.BusView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Resources of the administration port for journals of durable topics. Safe for use by several
 * threads.
 */
final class JournalApi {
  /** Maximum number of changes by clients that are no operators. */
  private static final int MAX_OF_CLIENTS = WaitingCalls.MAX_CALLS - 1;

  static final String PATH = "/api/v1/journals";
  static final String ONE = PATH + "/{id}";
  private static final Set<String> NOTHING_BUT_ACCOUNT = Set.of("account");
  private static final Set<String> DEFINITION =
      Set.of("account", "filters", "keep", "max-age", "max-bytes", "max-events", "full");

  private final BusView bus;
  private final WaitingCalls calls;
  private final Semaphore ofClients = new Semaphore(MAX_OF_CLIENTS);
  private final Function<AdminCaller, FilterRules> rules;

  /**
   * Creates the resources.
   *
   * @param rules filters whose journals a caller manages that is no operator
   */
  JournalApi(BusView bus, WaitingCalls calls, Function<AdminCaller, FilterRules> rules) {
    this.bus = bus;
    this.calls = calls;
    this.rules = rules;
  }

  List<Route> routes() {
    List<Route> all = new ArrayList<>(own());
    all.addAll(new WorkQueueApi(this).routes());
    return List.copyOf(all);
  }

  private List<Route> own() {
    return List.of(
        Route.get(PATH, (CallerAction) this::list).ofJournals(),
        Route.get("/api/v1/shards", (request, id) -> shards(request)),
        Route.delete("/api/v1/shards/votes/{id}", this::moveVote).forRole(AdminRole.ADMIN),
        Route.delete("/api/v1/shards/replicas/{id}", this::removeReplica).forRole(AdminRole.ADMIN),
        Route.get(ONE, (CallerAction) this::show).ofJournals(),
        Route.get(ONE + "/cursors", (CallerAction) this::cursors).ofJournals(),
        changes(Route.put(ONE, (CallerAction) this::create)),
        changes(Route.put(ONE + "/definition", (CallerAction) this::change)),
        changes(Route.put(ONE + "/trim", (CallerAction) this::trim)),
        changes(Route.put(ONE + "/purge", (CallerAction) this::purge)),
        changes(Route.delete(ONE, (CallerAction) this::delete)));
  }

  static Route changes(Route route) {
    return route.forRole(AdminRole.ADMIN).ofJournals();
  }

  JournalScope scope(AdminCaller caller) throws HttpFailure {
    return JournalScope.of(caller, rules.apply(caller));
  }

  /**
   * Journal, as the API describes it.
   *
   * @param account its account; empty for the default one
   * @param number which subscribers see as the producer of its events
   * @param keep "all" or "latest"
   * @param maxAgeMillis 0 for no bound, as the next two
   * @param full "drop-old" or "refuse"
   */
  record Item(
      String account,
      String name,
      int number,
      List<String> filters,
      String keep,
      long maxAgeMillis,
      long maxBytes,
      long maxEvents,
      String full) {
    static Item of(JournalInfo journal) {
      return new Item(
          journal.name().account(),
          journal.name().name(),
          journal.number(),
          journal.filters().stream().map(TopicFilter::toString).toList(),
          DefinitionText.of(journal.keep()),
          journal.retention().ageMillis(),
          journal.retention().bytes(),
          journal.retention().events(),
          DefinitionText.of(journal.full()));
    }
  }

  /**
   * Journal with what it holds.
   *
   * @param content figures of it
   * @param time the time of the journals, which retention goes by
   */
  record Detail(Item journal, Content content, Instant time) {}

  /**
   * Content of a journal.
   *
   * @param firstPosition the first position that is kept
   * @param lastPosition 0 before the first event
   * @param bytes what the events take in the store
   * @param delayed events that wait for their time
   */
  record Content(
      long firstPosition,
      long lastPosition,
      long events,
      long bytes,
      long topics,
      long producers,
      long delayed,
      long cursors) {
    static Content of(JournalFigures figures) {
      return new Content(
          figures.firstPosition(),
          figures.lastPosition(),
          figures.events(),
          figures.bytes(),
          figures.topics(),
          figures.producers(),
          figures.delayed(),
          figures.cursors());
    }
  }

  /**
   * Cursor of a durable subscription.
   *
   * @param settled the last position of which everything before is settled
   * @param lag positions that are not settled and not dead, whether or not the filter has their
   *     topics
   * @param mode EXCLUSIVE, or SHARED or KEY_SHARED, of which alone the next four are not 0
   * @param consumers number of its consumers
   * @param inFlight events that these have and have not settled; 0 for KEY_SHARED
   * @param waiting events that come again
   * @param dead letters that do not come again until an operator wants it
   * @param oldest when the first event was stored that is not settled and not dead; null if there
   *     is none, or if it is not known
   * @param lastUsed when it was last used
   */
  record Cursor(
      String name,
      String filter,
      long settled,
      long lag,
      CursorMode mode,
      int consumers,
      long inFlight,
      long waiting,
      long dead,
      @Nullable Instant oldest,
      Instant lastUsed) {
    static Cursor of(CursorView cursor) {
      return new Cursor(
          cursor.name(),
          cursor.filter().toString(),
          cursor.floor(),
          cursor.lag(),
          cursor.mode(),
          cursor.consumers(),
          cursor.inFlight(),
          cursor.waiting(),
          cursor.dead(),
          cursor.oldestStamp() == 0 ? null : Instant.ofEpochMilli(cursor.oldestStamp()),
          Instant.ofEpochMilli(cursor.stamp()));
    }
  }

  JournalAdministration journals() throws HttpFailure {
    JournalAdministration journals = bus.journals();
    if (journals == null) {
      throw new HttpFailure(
          404,
          "NOT_FOUND",
          "this bus has no durable topics (expected: a bus with a data directory)");
    }
    return journals;
  }

  private AdminReply list(AdminRequest request, String id, AdminCaller caller) throws HttpFailure {
    QueryString query = request.query(Set.of("account", "after", "limit"));
    int limit = query.limit();
    String account = scope(caller).account(query.optional("account"));
    String after = query.optional("after");
    List<Item> found =
        journals().list(account, after == null ? null : after(after), limit + 1).stream()
            .map(Item::of)
            .toList();
    return AdminApi.page(found, limit, PATH, account, item -> item.account() + "/" + item.name());
  }

  private AdminReply shards(AdminRequest request) throws HttpFailure {
    request.query(Set.of());
    JournalAdministration journals = bus.journals();
    return AdminReply.ok(
        new Page<>(journals == null ? List.<ShardView>of() : journals.shards(), null));
  }

  private AdminReply moveVote(AdminRequest request, String id) throws HttpFailure {
    QueryString query = request.query(Set.of("leaves"));
    boolean leaves = "true".equals(query.optional("leaves"));
    String name = bus(id);
    JournalAdministration journals = journals();
    calls.await(() -> journals.moveVote(name, leaves));
    return AdminReply.ok(Map.of("done", true));
  }

  private AdminReply removeReplica(AdminRequest request, String id) throws HttpFailure {
    request.query(Set.of());
    String name = bus(id);
    JournalAdministration journals = journals();
    calls.await(() -> journals.removeReplica(name));
    return AdminReply.ok(Map.of("done", true));
  }

  private static String bus(String id) throws HttpFailure {
    try {
      return new BusId(id).value();
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest("bus: illegal (expected: the name of a bus)");
    }
  }

  /** Waits for a change; one call is left for operators, whatever clients ask for. */
  <T> T await(AdminCaller caller, WaitingCalls.Call<T> call) throws HttpFailure {
    if (caller.role() != AdminRole.NONE) {
      return calls.await(call);
    }
    WaitingCalls.enter(ofClients, MAX_OF_CLIENTS, "the journals");
    try {
      return calls.await(call);
    } finally {
      ofClients.release();
    }
  }

  private static JournalName after(String text) throws HttpFailure {
    int slash = text.indexOf('/');
    if (slash < 0) {
      throw HttpFailure.badRequest("after: illegal (expected: account/journal)");
    }
    return name(text.substring(0, slash), text.substring(slash + 1));
  }

  static JournalName name(QueryString query, String id, JournalScope scope) throws HttpFailure {
    String account = scope.account(query.optional("account"));
    return name(account == null ? "" : account, id);
  }

  private static JournalName name(String account, String name) throws HttpFailure {
    if (!account.isEmpty() && !Identity.isLabel(account)) {
      throw HttpFailure.badRequest("account: illegal " + Identity.LABEL_EXPECTED);
    }
    try {
      return new JournalName(account, name);
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest(String.valueOf(e.getMessage()));
    }
  }

  JournalInfo find(JournalName name) throws HttpFailure {
    return journals().find(name).orElseThrow(() -> HttpFailure.notFound("journal"));
  }

  private AdminReply show(AdminRequest request, String id, AdminCaller caller) throws HttpFailure {
    JournalScope scope = scope(caller);
    JournalInfo journal = find(name(request.query(NOTHING_BUT_ACCOUNT), id, scope));
    JournalFigures figures = figures(journal);
    return AdminReply.ok(
        new Detail(Item.of(journal), Content.of(figures), Instant.ofEpochMilli(figures.stamp())));
  }

  JournalFigures figures(JournalInfo journal) throws HttpFailure {
    JournalAdministration journals = journals();
    return read(() -> journals.figures(journal)).orElseThrow(() -> HttpFailure.notFound("journal"));
  }

  static <T> T read(Supplier<T> reader) throws HttpFailure {
    try {
      return reader.get();
    } catch (JournalsUnavailableException e) {
      throw new HttpFailure(503, "UNAVAILABLE", String.valueOf(e.getMessage()));
    }
  }

  private AdminReply cursors(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    QueryString query = request.query(Set.of("account", "after", "limit"));
    int limit = query.limit();
    JournalInfo journal = find(name(query, path, scope));
    JournalAdministration journals = journals();
    String after = query.text("after", "");
    return AdminApi.page(
        read(() -> journals.cursors(journal, after, limit + 1)).stream().map(Cursor::of).toList(),
        limit,
        PATH + "/" + AdminApi.encoded(journal.name().name()) + "/cursors",
        scope.account(query.optional("account")),
        Cursor::name);
  }

  private AdminReply create(AdminRequest request, String id, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    QueryString query = request.query(DEFINITION);
    JournalName name = name(query, id, scope);
    JournalDefinition definition = definition(query, name, null);
    scope.check(definition.filters());
    JournalAdministration journals = journals();
    int number = await(caller, () -> journals.create(name, definition));
    return AdminReply.ok(Map.of("journal", name.name(), "number", number));
  }

  private AdminReply change(AdminRequest request, String id, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    QueryString query = request.query(DEFINITION);
    JournalName name = name(query, id, scope);
    JournalInfo before = find(name);
    scope.check(before.filters());
    JournalDefinition definition = definition(query, name, before);
    scope.check(definition.filters());
    JournalAdministration journals = journals();
    await(caller, () -> journals.change(name, definition));
    return AdminReply.ok(Map.of("done", true));
  }

  private AdminReply delete(AdminRequest request, String id, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    JournalName name = name(request.query(NOTHING_BUT_ACCOUNT), id, scope);
    scope.check(find(name).filters());
    JournalAdministration journals = journals();
    await(caller, () -> journals.delete(name));
    return AdminReply.ok(Map.of("done", true));
  }

  private AdminReply trim(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    QueryString query = request.query(Set.of("account", "up-to"));
    JournalName name = name(query, path, scope);
    long upTo = query.number("up-to", 0);
    if (upTo < 1) {
      throw HttpFailure.badRequest("up-to: missing or too small (expected: a position, 1 or more)");
    }
    scope.check(find(name).filters());
    JournalAdministration journals = journals();
    long first = await(caller, () -> journals.trim(name, upTo));
    return AdminReply.ok(Map.of("firstPosition", first));
  }

  private AdminReply purge(AdminRequest request, String path, AdminCaller caller)
      throws HttpFailure {
    JournalScope scope = scope(caller);
    QueryString query = request.query(Set.of("account", "topic", "from", "to"));
    JournalName name = name(query, path, scope);
    String topic = query.text("topic", "");
    String problem = topic.isEmpty() ? null : Topic.problem(topic);
    if (problem != null) {
      throw HttpFailure.badRequest("topic: illegal (expected: a topic without wildcards)");
    }
    boolean all = query.optional("from") == null || query.optional("to") == null;
    if (topic.isEmpty() && all) {
      throw HttpFailure.badRequest("no topic (expected: topic, or both from and to)");
    }
    long from = query.number("from", 1);
    long to = query.number("to", Long.MAX_VALUE);
    if (from < 1 || to < from) {
      throw HttpFailure.badRequest("from, to: out of range (expected: 1 or more, from <= to)");
    }
    JournalInfo journal = find(name);
    scope.check(journal.filters());
    long last = Math.min(to, Math.max(from, figures(journal).lastPosition()));
    JournalAdministration journals = journals();
    long events = await(caller, () -> journals.purge(name, topic, from, last));
    return AdminReply.ok(Map.of("events", events));
  }

  /** Reads a definition; what is not given stays as before. */
  private static JournalDefinition definition(
      QueryString query, JournalName name, @Nullable JournalInfo before) throws HttpFailure {
    try {
      return DefinitionText.read(name, query::optional, before);
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest(String.valueOf(e.getMessage()));
    }
  }
}
