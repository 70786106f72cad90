package io.eventbus.server.admin;

import io.eventbus.server.security.Identity;
import io.eventbus.server.view.AccountInfo;
import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusView;
import io.eventbus.server.view.QuotaInfo;
import io.eventbus.server.view.ServiceInfo;
import io.eventbus.server.view.SubscriptionKey;
import io.eventbus.server.view.TopicInfo;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Resources of the administration port. Safe for use by several threads. */
final class AdminApi {
  /**
   * Bound on a reason: a Close frame has room for 123 bytes, some of which the bus needs itself.
   */
  private static final int MAX_REASON_LENGTH = 100;

  private static final Set<String> PAGING = Set.of("after", "limit");
  private static final Set<String> PAGING_OF_ACCOUNT = Set.of("account", "after", "limit");

  private final BusView bus;
  private final BusMetrics metrics;
  private final RegistryApi registry;
  private final AdminRole metricsRole;
  private final BalanceApi balance;
  private final RevocationApi revocations;
  private final JournalApi journals;

  AdminApi(
      BusView bus,
      BusMetrics metrics,
      RegistryApi registry,
      RevocationApi revocations,
      JournalApi journals,
      AdminRole metricsRole) {
    this.revocations = revocations;
    this.journals = journals;
    this.bus = bus;
    this.metrics = metrics;
    this.registry = registry;
    this.metricsRole = metricsRole;
    this.balance = new BalanceApi(bus);
  }

  List<Route> routes() {
    List<Route> all = new ArrayList<>(own());
    Stream.of(registry.routes(), balance.routes(), revocations.routes(), journals.routes())
        .flatMap(List::stream)
        .map(Route::waiting)
        .forEach(all::add);
    return List.copyOf(all);
  }

  private List<Route> own() {
    return List.of(
        Route.get("/", this::index),
        Route.get("/healthz", (request, id) -> alive(bus.health())).prompt(),
        Route.get("/readyz", (request, id) -> ready(bus.health())).prompt(),
        Route.get("/metrics", (request, id) -> metricsPage()).forRole(metricsRole),
        Route.get("/api/v1/caller", (CallerAction) AdminApi::caller).forRole(AdminRole.NONE),
        Route.get("/api/v1/bus", (request, id) -> AdminReply.ok(bus.summary())),
        Route.get("/api/v1/accounts", (request, id) -> accounts(request)),
        Route.get("/api/v1/connections", (request, id) -> connections(request)),
        Route.get("/api/v1/connections/{id}", (request, id) -> connection(id)),
        Route.delete("/api/v1/connections/{id}", this::disconnect),
        Route.get("/api/v1/topics", (request, id) -> topics(request)),
        Route.get("/api/v1/services", (request, id) -> services(request)),
        Route.get("/api/v1/services/{id}", this::service),
        Route.put("/api/v1/services/{id}/members/{number}/drain", this::drainMember),
        Route.get("/api/v1/calls", (request, id) -> calls(request)).waiting(),
        Route.get("/api/v1/subscriptions", (request, id) -> subscriptions(request)),
        Route.get("/api/v1/quotas", (request, id) -> quotas(request)));
  }

  private static AdminReply caller(AdminRequest request, String id, AdminCaller caller)
      throws HttpFailure {
    request.query(Set.of());
    Identity identity = caller.identity();
    return AdminReply.ok(
        new CallerInfo(
            caller.name(),
            caller.role().toString(),
            identity == null ? "" : identity.account(),
            identity == null ? List.of() : List.copyOf(identity.roles()),
            identity == null ? "" : identity.method().name().toLowerCase(Locale.ROOT),
            identity == null ? null : identity.expiresAt()));
  }

  /**
   * Caller, as the API describes it.
   *
   * @param name the user, the subject of a token, or the key of the token of administrators; empty
   *     where nobody has to log in
   * @param role what it may do here
   * @param account its account; empty for that of all that have none
   * @param method how it has authenticated; empty for the token of administrators
   * @param expiresAt when its credentials expire; null for never
   */
  record CallerInfo(
      String name,
      String role,
      String account,
      List<String> roles,
      String method,
      @Nullable Instant expiresAt) {}

  /** Returns the resources while the bus starts. */
  static List<Route> starting(Supplier<BusHealth> bus) {
    return List.of(
        Route.get("/healthz", (request, id) -> alive(bus.get())).prompt(),
        Route.get("/readyz", (request, id) -> ready(bus.get())).prompt());
  }

  private AdminReply index(AdminRequest request, String id) {
    return AdminReply.ok(
        Map.of("resources", routes().stream().map(r -> r.method() + " " + r.path()).toList()));
  }

  /**
   * Answers whether the bus is alive: a restart would not help a bus that drains or waits, so only
   * FAILED says no.
   */
  private static AdminReply alive(BusHealth health) {
    return new AdminReply(health.state() == BusHealth.State.FAILED ? 503 : 200, health);
  }

  /** Answers whether new clients should be sent here. */
  private static AdminReply ready(BusHealth health) {
    return new AdminReply(health.state() == BusHealth.State.UP ? 200 : 503, health);
  }

  private AdminReply metricsPage() {
    return new AdminReply(200, metrics.scrape());
  }

  private AdminReply accounts(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(PAGING);
    int limit = query.limit();
    return page(
        bus.accounts(query.text("after", ""), limit + 1),
        limit,
        "/api/v1/accounts",
        AccountInfo::name);
  }

  private AdminReply connections(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(PAGING_OF_ACCOUNT);
    int limit = query.limit();
    String account = query.optional("account");
    return page(
        bus.connections(account, query.number("after", Long.MIN_VALUE), limit + 1),
        limit,
        "/api/v1/connections",
        account,
        last -> Long.toString(last.id()));
  }

  private AdminReply connection(String id) throws HttpFailure {
    return AdminReply.ok(
        bus.connection(QueryString.parse("id", id))
            .orElseThrow(() -> HttpFailure.notFound("connection")));
  }

  private AdminReply disconnect(AdminRequest request, String id) throws HttpFailure {
    QueryString query = request.query(Set.of("reason"));
    String reason = query.text("reason", "disconnected by the administrator");
    if (reason.length() > MAX_REASON_LENGTH || reason.chars().anyMatch(c -> c < ' ' || c > '~')) {
      throw HttpFailure.badRequest(
          "reason: illegal (expected: up to " + MAX_REASON_LENGTH + " printable ASCII characters)");
    }
    if (!bus.disconnect(QueryString.parse("id", id), reason)) {
      throw HttpFailure.notFound("connection");
    }
    return new AdminReply(202, Map.of("closing", true));
  }

  private AdminReply topics(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(PAGING_OF_ACCOUNT);
    int limit = query.limit();
    String account = query.optional("account");
    return page(
        bus.topics(query.text("account", ""), query.text("after", ""), limit + 1),
        limit,
        "/api/v1/topics",
        account,
        TopicInfo::name);
  }

  private AdminReply services(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(PAGING_OF_ACCOUNT);
    int limit = query.limit();
    String account = query.optional("account");
    return page(
        bus.services(query.text("account", ""), query.text("after", ""), limit + 1),
        limit,
        "/api/v1/services",
        account,
        ServiceInfo::name);
  }

  private AdminReply service(AdminRequest request, String name) throws HttpFailure {
    QueryString query = request.query(Set.of("account"));
    return AdminReply.ok(
        bus.service(query.text("account", ""), name)
            .orElseThrow(() -> HttpFailure.notFound("service")));
  }

  private AdminReply drainMember(AdminRequest request, String path) throws HttpFailure {
    QueryString query = request.query(Set.of("account"));
    int slash = path.indexOf('/');
    long number = QueryString.parse("number", path.substring(slash + 1));
    if (!bus.drainMember(query.text("account", ""), path.substring(0, slash), number)) {
      throw HttpFailure.notFound("member of that service at this bus");
    }
    return new AdminReply(202, Map.of("draining", true));
  }

  private AdminReply calls(AdminRequest request) throws HttpFailure {
    int limit = request.query(Set.of("limit")).limit();
    return AdminReply.ok(new Page<>(bus.slowestCalls(limit), null));
  }

  private AdminReply subscriptions(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(PAGING_OF_ACCOUNT);
    int limit = query.limit();
    String account = query.optional("account");
    return page(
        bus.subscriptions(account, subscriptionKey(query.text("after", "")), limit + 1),
        limit,
        "/api/v1/subscriptions",
        account,
        last -> last.connection() + ":" + last.id());
  }

  private AdminReply quotas(AdminRequest request) throws HttpFailure {
    QueryString query = request.query(Set.of("after", "limit", "account", "subject"));
    int limit = query.limit();
    String account = query.optional("account");
    String subject = query.optional("subject");
    if (account == null && subject != null) {
      throw HttpFailure.badRequest("subject: without account (expected: both, or only account)");
    }
    List<QuotaInfo> found =
        account == null
            ? bus.quotas(query.number("after", 0), limit + 1)
            : bus.quotas(account, subject);
    return page(found, limit, "/api/v1/quotas", last -> Long.toString(last.id()));
  }

  private static SubscriptionKey subscriptionKey(String after) throws HttpFailure {
    if (after.isEmpty()) {
      return SubscriptionKey.FIRST;
    }
    int colon = after.indexOf(':');
    if (colon < 0) {
      throw HttpFailure.badRequest("after: illegal (expected: connection:id)");
    }
    return new SubscriptionKey(
        QueryString.parse("after", after.substring(0, colon)),
        QueryString.parse("after", after.substring(colon + 1)));
  }

  /**
   * Creates a page of at most {@code limit} items from one more, which tells if another follows.
   */
  static <T> AdminReply page(List<T> found, int limit, String path, Function<T, String> cursor) {
    return page(found, limit, path, Map.of(), cursor);
  }

  /** Creates a page of a list of one account, or of all accounts if that is null. */
  static <T> AdminReply page(
      List<T> found, int limit, String path, @Nullable String account, Function<T, String> cursor) {
    return page(
        found, limit, path, account == null ? Map.of() : Map.of("account", account), cursor);
  }

  /** Creates a page of a list that other parameters select. */
  static <T> AdminReply page(
      List<T> found,
      int limit,
      String path,
      Map<String, String> parameters,
      Function<T, String> cursor) {
    StringBuilder query = new StringBuilder("?limit=").append(limit);
    parameters.forEach(
        (name, value) -> query.append('&').append(name).append('=').append(encoded(value)));
    boolean more = found.size() > limit;
    List<T> items = more ? found.subList(0, limit) : found;
    String next =
        more ? path + query + "&after=" + encoded(cursor.apply(items.get(limit - 1))) : null;
    return AdminReply.ok(new Page<>(List.copyOf(items), next));
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /**
   * Part of a list.
   *
   * @param next where the next part is, or null if this is the last
   */
  record Page<T>(List<T> items, @Nullable String next) {}

  /** Answers a request. */
  @FunctionalInterface
  interface Action {
    AdminReply run(AdminRequest request, String id) throws HttpFailure;

    /** Answers where the caller matters. */
    default AdminReply run(AdminRequest request, String id, AdminCaller caller) throws HttpFailure {
      return run(request, id);
    }
  }

  /** Answers a request by who asks: whoever has logged in, whatever it may do. */
  @FunctionalInterface
  interface CallerAction extends Action {
    @Override
    AdminReply run(AdminRequest request, String id, AdminCaller caller) throws HttpFailure;

    @Override
    default AdminReply run(AdminRequest request, String id) throws HttpFailure {
      return run(request, id, AdminCaller.UNKNOWN);
    }
  }

  /**
   * Resource with a method.
   *
   * @param path path, of which segments may be parameters in braces
   * @param isPrompt whether the action runs on the thread of the sockets
   * @param waits whether the action may wait; else it only computes
   * @param isOfJournals whether callers may ask that manage journals of their account
   */
  record Route(
      String method,
      String path,
      List<String> parts,
      Action action,
      AdminRole role,
      boolean isPrompt,
      boolean waits,
      boolean isOfJournals) {
    private Route(String method, String path, Action action, AdminRole role) {
      this(method, path, List.of(path.split("/", -1)), action, role, false, false, false);
    }

    static Route get(String path, Action action) {
      return new Route("GET", path, action, AdminRole.VIEWER);
    }

    static Route put(String path, Action action) {
      return new Route("PUT", path, action, AdminRole.OPERATOR);
    }

    static Route delete(String path, Action action) {
      return new Route("DELETE", path, action, AdminRole.OPERATOR);
    }

    /** Returns the same resource for callers of another role. */
    Route forRole(AdminRole needed) {
      return new Route(method, path, action, needed);
    }

    /**
     * Returns the same resource for everybody, answered on the thread of the sockets: the action
     * must not wait.
     */
    Route prompt() {
      return new Route(method, path, parts, action, AdminRole.NONE, true, false, false);
    }

    /** Returns the same resource, whose action may wait. */
    Route waiting() {
      return new Route(method, path, parts, action, role, isPrompt, true, isOfJournals);
    }

    /**
     * Returns the same resource also for callers that manage journals of their account: the action
     * decides which of them.
     */
    Route ofJournals() {
      return new Route(method, path, parts, action, role, isPrompt, waits, true);
    }

    /** Returns whether everybody may ask for it, also with wrong credentials. */
    boolean isOpen() {
      return role == AdminRole.NONE && !(action instanceof CallerAction);
    }

    boolean isFor(AdminRequest request) {
      return method.equals(request.routeMethod()) && match(request.parts()) != null;
    }

    /**
     * Returns the parameters in a path that matches, joined by slashes, empty for a match without
     * any, or null for no match.
     */
    @Nullable String match(List<String> requested) {
      if (requested.size() != parts.size()) {
        return null;
      }
      StringJoiner parameters = new StringJoiner("/");
      for (int i = 0; i < parts.size(); i++) {
        String expected = parts.get(i);
        String found = requested.get(i);
        if (expected.startsWith("{") && !found.isEmpty()) {
          parameters.add(found);
        } else if (!expected.equals(found)) {
          return null;
        }
      }
      return parameters.toString();
    }
  }
}
