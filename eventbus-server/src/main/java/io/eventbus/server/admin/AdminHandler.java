package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.eventbus.server.admin.AdminApi.Reply;
import io.eventbus.server.admin.AdminApi.Route;
import io.eventbus.server.admin.LateAnswers.Place;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the route of a request, and writes its answer or error. */
final class AdminHandler implements HttpHandler {
  /** What is told of what a caller asked for. */
  private static final int MOST_TARGET = 512;

  private final AdminFailures failures;
  private final Guards guards;
  private final List<Route> starting;
  private volatile @Nullable List<Route> serving;

  /**
   * Makes a handler for the time until {@link #serve}.
   *
   * @param guards what a request has to pass
   * @param starting what there is until then; everything else is not there yet (503)
   * @param failures tells of requests that fail
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
   * What a request has to pass.
   *
   * @param hosts which hosts may be asked for
   * @param first told that a request is there
   * @param login finds out who calls
   * @param late answers those that guess
   * @param audit told of what callers do and what they are not let
   */
  record Guards(
      HostGuard hosts, FirstRequests first, AdminLogin login, LateAnswers late, Advisories audit) {}

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    guards.first().end();
    // Another request on the same connection could come slowly, and would not be counted.
    exchange.getResponseHeaders().set("Connection", "close");
    InetAddress address = exchange.getRemoteAddress().getAddress();
    Place place = null;
    Optional<Caller> caller;
    try {
      checkHost(exchange);
      if (isOpen(exchange)) {
        answer(exchange, reply(exchange, Caller.UNKNOWN));
        return;
      }
      String shown = exchange.getRequestHeaders().getFirst("Authorization");
      caller = guards.login().findAtOnce(shown);
      if (shown != null && caller.isEmpty()) {
        place = guards.late().enter(address);
        if (place == null) {
          exchange.getResponseHeaders().set("Retry-After", "1");
          throw new HttpFailure(
              429, "TOO_MANY_FAILURES", "too many wrong credentials lately; try again in a second");
        }
        caller = find(place, shown);
      }
    } catch (HttpFailure failure) {
      answer(exchange, error(failure));
      return;
    }
    if (caller.isPresent()) {
      if (caller.get().role() != AdminRole.NONE) {
        guards.late().prove(address);
      }
      if (!caller.get().equals(Caller.UNKNOWN)) {
        exchange.getResponseHeaders().remove("Connection");
      }
      answer(exchange, reply(exchange, caller.get()));
    } else if (place != null) {
      // The exchange goes on after this method, on another thread.
      guards.late().answer(place, () -> refuse(exchange));
    }
  }

  /**
   * Finds out who calls; one whose credentials are wrong keeps its place among the late answers.
   */
  private Optional<Caller> find(Place place, String shown) throws HttpFailure {
    boolean isWrong = false;
    try {
      Optional<Caller> caller = guards.login().find(shown, guards.late().origin(place));
      isWrong = caller.isEmpty();
      return caller;
    } finally {
      if (!isWrong) {
        guards.late().leave(place);
      }
    }
  }

  /** What is there for everybody is there for callers with wrong credentials, too. */
  private boolean isOpen(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    String method = method(exchange);
    return routes().stream()
        .anyMatch(
            route ->
                route.role() == AdminRole.NONE
                    && !(route.action() instanceof AdminApi.CallerAction)
                    && route.method().equals(method)
                    && route.match(path) != null);
  }

  /** HEAD is GET without the body (RFC 9110, section 9.3.2). */
  private static String method(HttpExchange exchange) {
    return exchange.getRequestMethod().equals("HEAD") ? "GET" : exchange.getRequestMethod();
  }

  private List<Route> routes() {
    List<Route> current = serving;
    return current == null ? starting : current;
  }

  private void refuse(HttpExchange exchange) {
    try {
      tell(exchange, Caller.UNKNOWN, 401);
      answer(exchange, error(unauthenticated(exchange, "the credentials are wrong")));
    } catch (IOException e) {
      // The caller has gone.
      exchange.close();
    }
  }

  private static void answer(HttpExchange exchange, Reply reply) throws IOException {
    try (exchange) {
      write(exchange, reply);
    }
  }

  private Reply reply(HttpExchange exchange, Caller caller) {
    try {
      Route route = route(exchange, caller);
      Reply reply = run(exchange, route, caller);
      if (!AdminRole.VIEWER.includes(route.role())) {
        tell(exchange, caller, reply.status());
      }
      return reply;
    } catch (HttpFailure failure) {
      if (failure.status() == 401 || failure.status() == 403) {
        tell(exchange, caller, failure.status());
      }
      return error(failure);
    }
  }

  private Reply run(HttpExchange exchange, Route route, Caller caller) {
    try {
      String id = route.match(exchange.getRequestURI().getPath());
      return route.action().run(exchange, id == null ? "" : id, caller);
    } catch (HttpFailure failure) {
      return error(failure);
    } catch (RuntimeException e) {
      return error(new HttpFailure(500, "INTERNAL", failures.tell(e)));
    }
  }

  private void tell(HttpExchange exchange, Caller caller, int status) {
    String target = exchange.getRequestURI().toString();
    guards
        .audit()
        .tell(
            new Advisory.AdminAction(
                caller.name(),
                caller.role().toString(),
                exchange.getRemoteAddress().toString(),
                exchange.getRequestMethod(),
                target.substring(0, Math.min(target.length(), MOST_TARGET)),
                status));
  }

  private void checkHost(HttpExchange exchange) throws HttpFailure {
    List<String> hosts = exchange.getRequestHeaders().get("Host");
    if (hosts != null && hosts.size() > 1) {
      // A proxy in front may have looked at another one (RFC 9112, section 3.2).
      throw HttpFailure.badRequest(hosts.size() + " Host headers (expected: one)");
    }
    if (!guards.hosts().allows(exchange.getRequestHeaders().getFirst("Host"))) {
      throw new HttpFailure(
          421,
          "MISDIRECTED",
          "Host header refused (expected: localhost, an address, or a name in"
              + " admin.allowed-hosts)");
    }
  }

  /** Finds what is asked for, if the caller may ask for it. */
  private Route route(HttpExchange exchange, Caller caller) throws HttpFailure {
    String path = exchange.getRequestURI().getPath();
    String method = method(exchange);
    TreeSet<String> allowed = new TreeSet<>();
    boolean starts = serving == null;
    for (Route route : routes()) {
      String id = route.match(path);
      if (id != null && route.method().equals(method)) {
        check(exchange, caller, route.role());
        if (route.action() instanceof AdminApi.CallerAction && caller.equals(Caller.UNKNOWN)) {
          throw unauthenticated(exchange, "this needs a login");
        }
        return route;
      }
      if (id != null) {
        allowed.add(route.method());
      }
    }
    // What there is, is not for everybody either.
    check(exchange, caller, AdminRole.VIEWER);
    if (allowed.isEmpty() && starts) {
      throw new HttpFailure(503, "STARTING", "the bus starts; see /readyz");
    }
    if (allowed.isEmpty()) {
      throw HttpFailure.notFound("resource (GET / lists them)");
    }
    String methods = String.join(", ", allowed);
    exchange.getResponseHeaders().set("Allow", methods);
    throw new HttpFailure(
        405, "METHOD_NOT_ALLOWED", "method not allowed (expected: " + methods + ")");
  }

  private void check(HttpExchange exchange, Caller caller, AdminRole needed) throws HttpFailure {
    if (caller.role().includes(needed)) {
      return;
    }
    if (caller.equals(Caller.UNKNOWN)) {
      throw unauthenticated(exchange, "this needs a login");
    }
    throw new HttpFailure(
        403, "FORBIDDEN", "this needs the role " + needed + " (yours is " + caller.role() + ")");
  }

  private HttpFailure unauthenticated(HttpExchange exchange, String problem) {
    exchange.getResponseHeaders().put("WWW-Authenticate", guards.login().challenges());
    return new HttpFailure(
        401,
        "UNAUTHENTICATED",
        problem
            + " (expected: Authorization: Bearer with the token of admin.token-file or a signed"
            + " token, or Basic with a user and password; the command line takes --admin-token-file"
            + " and --user)");
  }

  private static Reply error(HttpFailure failure) {
    return new Reply(
        failure.status(),
        Map.of(
            "error",
            Map.of("code", failure.code(), "message", String.valueOf(failure.getMessage()))));
  }

  private static void write(HttpExchange exchange, Reply reply) throws IOException {
    if (reply.body() instanceof AdminApi.Download download) {
      write(exchange, reply.status(), download);
      return;
    }
    boolean text = reply.body() instanceof String;
    byte[] body = text ? bytes((String) reply.body()) : json(reply.body());
    var headers = exchange.getResponseHeaders();
    headers.set("Content-Type", text ? BusMetrics.CONTENT_TYPE : "application/json");
    headers.set("Cache-Control", "no-store");
    headers.set("X-Content-Type-Options", "nosniff");
    if (exchange.getRequestMethod().equals("HEAD")) {
      headers.set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(reply.status(), -1);
      return;
    }
    exchange.sendResponseHeaders(reply.status(), body.length);
    exchange.getResponseBody().write(body);
  }

  /** Chunked: a download that breaks off is not taken for a whole one. */
  private static void write(HttpExchange exchange, int status, AdminApi.Download download)
      throws IOException {
    var headers = exchange.getResponseHeaders();
    headers.set("Content-Type", "application/octet-stream");
    headers.set("Cache-Control", "no-store");
    headers.set("X-Content-Type-Options", "nosniff");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, 0);
    download.writeTo(exchange.getResponseBody());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] json(Object body) throws IOException {
    byte[] json = Json.write(body);
    byte[] line = Arrays.copyOf(json, json.length + 1);
    line[json.length] = '\n';
    return line;
  }
}
