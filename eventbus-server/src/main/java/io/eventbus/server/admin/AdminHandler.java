package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.eventbus.server.admin.AdminApi.Reply;
import io.eventbus.server.admin.AdminApi.Route;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the route of a request, and writes its answer or error. */
final class AdminHandler implements HttpHandler {
  private final AdminFailures failures;
  private final HostGuard guard;
  private final List<Route> starting;
  private volatile @Nullable List<Route> serving;

  /**
   * Makes a handler for the time until {@link #serve}.
   *
   * @param guard which hosts may be asked for
   * @param starting what there is until then; everything else is not there yet (503)
   * @param failures tells of requests that fail
   */
  AdminHandler(HostGuard guard, List<Route> starting, AdminFailures failures) {
    this.failures = failures;
    this.guard = guard;
    this.starting = List.copyOf(starting);
  }

  /** Answers with these routes from now on. */
  void serve(List<Route> routes) {
    serving = List.copyOf(routes);
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Reply reply;
      try {
        reply = answer(exchange);
      } catch (HttpFailure failure) {
        reply = error(failure);
      } catch (RuntimeException e) {
        reply = error(new HttpFailure(500, "INTERNAL", failures.tell(e)));
      }
      write(exchange, reply);
    }
  }

  private Reply answer(HttpExchange exchange) throws HttpFailure {
    if (!guard.allows(exchange.getRequestHeaders().getFirst("Host"))) {
      throw new HttpFailure(
          421,
          "MISDIRECTED",
          "Host header refused (expected: localhost, an address, or a name in admin.allowed-hosts)");
    }
    String path = exchange.getRequestURI().getPath();
    // HEAD is GET without the body (RFC 9110, section 9.3.2).
    String method =
        exchange.getRequestMethod().equals("HEAD") ? "GET" : exchange.getRequestMethod();
    TreeSet<String> allowed = new TreeSet<>();
    List<Route> routes = serving;
    for (Route route : routes == null ? starting : routes) {
      String id = route.match(path);
      if (id != null && route.method().equals(method)) {
        return route.action().run(exchange, id);
      }
      if (id != null) {
        allowed.add(route.method());
      }
    }
    if (allowed.isEmpty() && routes == null) {
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
