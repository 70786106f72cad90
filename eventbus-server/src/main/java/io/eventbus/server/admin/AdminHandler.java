package io.eventbus.server.admin;

import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.admin.LateAnswers.Place;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.LoginOutcome;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Finds out who asks, and the route of what is asked for, and answers. Any thread. */
final class AdminHandler {
  /** Maximum length of a reported target. */
  private static final int MAX_TARGET = 512;

  private final AdminFailures failures;
  private final Guards guards;
  private final List<Route> starting;
  private volatile @Nullable List<Route> serving;

  /**
   * Creates a handler for the time until {@link #serve}.
   *
   * @param starting resources until then; everything else is unavailable (503)
   */
  AdminHandler(Guards guards, List<Route> starting, AdminFailures failures) {
    this.failures = failures;
    this.guards = guards;
    this.starting = List.copyOf(starting);
  }

  /** Answers with these routes from now on. */
  void serve(List<Route> routes) {
    serving = List.copyOf(routes);
  }

  /**
   * Checks that a request has to pass.
   *
   * @param hosts hosts that may be asked for
   * @param audit told of what callers do and what they are not allowed
   */
  record Guards(HostGuard hosts, AdminLogin login, LateAnswers late, Advisories audit) {}

  /** Origin of a request and receiver of its answer. Any thread. */
  interface Exchange {
    /** Returns the request. */
    AdminRequest request();

    /** Runs a task on a thread that may wait; where none has time for it, answers that instead. */
    void runOnThread(Runnable task);

    /**
     * Runs a task that does not wait in the turn of the client's address, one at a time; where too
     * many wait for that, answers that instead.
     */
    void runInTurn(Runnable task);

    /**
     * Answers, once. Waits until a download is taken.
     *
     * @param keeps whether the connection may have another request: not that of a stranger, who
     *     would hold it
     */
    void answer(AdminReply reply, boolean keeps);
  }

  /** Begins to answer, on the thread of the sockets, which does not wait. */
  void begin(Exchange exchange) {
    AdminRequest request = exchange.request();
    Optional<Route> prompt =
        routes().stream().filter(route -> route.isPrompt() && route.isFor(request)).findFirst();
    answering(
        exchange,
        () -> {
          checkHost(request);
          if (prompt.isPresent()) {
            exchange.answer(run(request, prompt.get(), AdminCaller.UNKNOWN), false);
          } else {
            run(exchange, () -> identify(exchange));
          }
        });
  }

  private interface Step {
    void run() throws HttpFailure;
  }

  /** Runs a step of an answer where the action of its route may run. */
  private void run(Exchange exchange, Step step) {
    Runnable task = () -> answering(exchange, step);
    if (routes().stream().anyMatch(r -> r.waits() && r.isFor(exchange.request()))) {
      exchange.runOnThread(task);
    } else {
      exchange.runInTurn(task);
    }
  }

  /** Runs a step of an answer; a failure in it is the answer. */
  private void answering(Exchange exchange, Step step) {
    try {
      step.run();
    } catch (HttpFailure failure) {
      exchange.answer(AdminReply.error(failure), false);
    } catch (RuntimeException e) {
      exchange.answer(AdminReply.error(internal(e)), false);
    }
  }

  private HttpFailure internal(RuntimeException e) {
    return new HttpFailure(500, "INTERNAL", failures.tell(e));
  }

  private void identify(Exchange exchange) throws HttpFailure {
    AdminRequest request = exchange.request();
    if (routes().stream().anyMatch(route -> route.isOpen() && route.isFor(request))) {
      // A page for everybody is there for callers with wrong credentials, too.
      serve(exchange, AdminCaller.UNKNOWN);
      return;
    }
    String shown = request.authorization();
    Optional<AdminCaller> caller = guards.login().findAtOnce(shown);
    if (shown == null || caller.isPresent()) {
      serve(exchange, caller.orElse(AdminCaller.UNKNOWN));
      return;
    }
    Place place = guards.late().enter(request.client().getAddress());
    if (place == null) {
      throw new HttpFailure(
          429,
          "TOO_MANY_FAILURES",
          "too many wrong credentials lately; try again in a second",
          Map.of("Retry-After", List.of("1")));
    }
    CompletableFuture<LoginOutcome> asked;
    try {
      asked = guards.login().find(shown, guards.late().origin(place));
    } catch (RuntimeException e) {
      guards.late().leave(place);
      throw e;
    }
    var unused =
        asked.thenAccept(outcome -> answering(exchange, () -> checked(exchange, place, outcome)));
  }

  /** Continues after the check of credentials; wrong ones keep their place for a while. */
  private void checked(Exchange exchange, Place place, LoginOutcome outcome) throws HttpFailure {
    if (outcome instanceof LoginOutcome.Wrong wrong) {
      String why = wrong.why().text();
      guards.late().answer(place, why, () -> refuse(exchange, why));
      return;
    }
    guards.late().leave(place);
    if (outcome instanceof LoginOutcome.Proved proved) {
      AdminCaller caller = guards.login().caller(proved.identity());
      run(exchange, () -> serve(exchange, caller));
    } else {
      throw new HttpFailure(
          503, "UNAVAILABLE", "it cannot be found out now who you are; try again later");
    }
  }

  private List<Route> routes() {
    List<Route> current = serving;
    return current == null ? starting : current;
  }

  private void refuse(Exchange exchange, String why) {
    tell(exchange.request(), AdminCaller.UNKNOWN, 401, why);
    exchange.answer(AdminReply.error(unauthenticated("the credentials are wrong")), false);
  }

  private void serve(Exchange exchange, AdminCaller caller) {
    if (caller.role() != AdminRole.NONE) {
      guards.late().prove(exchange.request().client().getAddress());
    }
    exchange.answer(reply(exchange.request(), caller), !caller.equals(AdminCaller.UNKNOWN));
  }

  private AdminReply reply(AdminRequest request, AdminCaller caller) {
    try {
      Route route = route(request, caller);
      AdminReply reply = run(request, route, caller);
      if (!AdminRole.VIEWER.includes(route.role()) || reply.status() == 403) {
        tell(request, caller, reply.status(), "");
      }
      return reply;
    } catch (HttpFailure failure) {
      if (failure.status() == 401 || failure.status() == 403) {
        tell(request, caller, failure.status(), "");
      }
      return AdminReply.error(failure);
    }
  }

  private AdminReply run(AdminRequest request, Route route, AdminCaller caller) {
    try {
      String id = route.match(request.parts());
      return route.action().run(request, id == null ? "" : id, caller);
    } catch (HttpFailure failure) {
      return AdminReply.error(failure);
    } catch (RuntimeException e) {
      return AdminReply.error(internal(e));
    }
  }

  private void tell(AdminRequest request, AdminCaller caller, int status, String reason) {
    String target = request.target();
    guards
        .audit()
        .tell(
            new Advisory.AdminAction(
                caller.name(),
                caller.account(),
                caller.role().toString(),
                request.client().toString(),
                request.method(),
                target.substring(0, Math.min(target.length(), MAX_TARGET)),
                status,
                reason));
  }

  private void checkHost(AdminRequest request) throws HttpFailure {
    List<String> hosts = request.hosts();
    if (hosts.size() > 1) {
      // A proxy in front may have read another one (RFC 9112, section 3.2).
      throw HttpFailure.badRequest(hosts.size() + " Host headers (expected: one)");
    }
    if (!guards.hosts().allows(hosts.isEmpty() ? null : hosts.get(0))) {
      throw new HttpFailure(
          421,
          "MISDIRECTED",
          "Host header refused (expected: localhost, an address, or a name in"
              + " admin.allowed-hosts)");
    }
  }

  /** Finds what is asked for, if the caller may ask for it. */
  private Route route(AdminRequest request, AdminCaller caller) throws HttpFailure {
    TreeSet<String> allowed = new TreeSet<>();
    boolean starts = serving == null;
    for (Route route : routes()) {
      if (route.match(request.parts()) == null) {
        continue;
      }
      if (route.method().equals(request.routeMethod())) {
        if (!route.isOfJournals()
            || !JournalScope.allowsSomething(guards.login().journals(caller))) {
          check(caller, route.role());
        }
        if (route.action() instanceof AdminApi.CallerAction && caller.equals(AdminCaller.UNKNOWN)) {
          throw unauthenticated("this needs a login");
        }
        return route;
      }
      allowed.add(route.method());
    }
    // Even the list of resources is not for everybody.
    check(caller, AdminRole.VIEWER);
    if (allowed.isEmpty() && starts) {
      throw new HttpFailure(503, "STARTING", "the bus starts; see /readyz");
    }
    if (allowed.isEmpty()) {
      throw HttpFailure.notFound("resource (GET / lists them)");
    }
    String methods = String.join(", ", allowed);
    throw new HttpFailure(
        405,
        "METHOD_NOT_ALLOWED",
        "method not allowed (expected: " + methods + ")",
        Map.of("Allow", List.of(methods)));
  }

  private void check(AdminCaller caller, AdminRole needed) throws HttpFailure {
    if (caller.role().includes(needed)) {
      return;
    }
    if (caller.equals(AdminCaller.UNKNOWN)) {
      throw unauthenticated("this needs a login");
    }
    throw new HttpFailure(
        403, "FORBIDDEN", "this needs the role " + needed + " (yours is " + caller.role() + ")");
  }

  private HttpFailure unauthenticated(String problem) {
    return new HttpFailure(
        401,
        "UNAUTHENTICATED",
        problem
            + " (expected: Authorization: Bearer with the token of admin.token-file or a signed"
            + " token, or Basic with a user and password; the command line takes --admin-token-file"
            + " and --user)",
        Map.of("WWW-Authenticate", guards.login().challenges()));
  }
}
