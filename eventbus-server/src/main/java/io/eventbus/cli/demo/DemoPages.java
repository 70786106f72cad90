package io.eventbus.cli.demo;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Server of the pages of {@code examples/pages} and the JavaScript SDK, which are in the jar, for
 * browsers of this machine. Only for the demo: a bus serves no files.
 */
final class DemoPages implements AutoCloseable {
  private static final String RESOURCES = "pages";
  private static final int BACKLOG = 64;
  private static final int THREADS = 4;

  /** Pattern without dots but that of the ending: no path leads out of the directory. */
  private static final Pattern PATH =
      Pattern.compile("/((?:[a-z0-9-]{1,50}/){0,3}[a-z0-9-]{1,50}\\.(html|js|css|json))");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "json", "application/json");

  private final HttpServer server;
  private final ExecutorService threads;
  private volatile @Nullable Shown shown;

  /**
   * Bus that the pages connect to, and the factor by which the replay is faster than the flights.
   */
  private record Shown(URI bus, double pace) {}

  private DemoPages(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Listens on a free port of this machine; answers 503 until there is a bus.
   *
   * @throws IOException if it cannot listen
   */
  static DemoPages start() throws IOException {
    // The JDK reads these with its first server of the process, which otherwise is the bus's
    // administration port, and this is started before it.
    System.setProperty("jdk.httpserver.maxConnections", "1024");
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    System.setProperty("sun.net.httpserver.maxRspTime", "10");
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer server =
        HttpServer.create(
            new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), BACKLOG);
    ExecutorService threads =
        Executors.newFixedThreadPool(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "demo-pages");
              thread.setDaemon(true);
              return thread;
            });
    DemoPages pages = new DemoPages(server, threads);
    server.setExecutor(threads);
    server.createContext("/", pages::handle);
    server.start();
    return pages;
  }

  /** Sets the bus for the pages, and the factor by which its flights are too fast. */
  void serve(URI bus, double pace) {
    shown = new Shown(bus, pace);
  }

  /** Returns the URL of a page. */
  String url(String page) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/" + page;
  }

  /** Returns the origin of these pages as browsers send it, by either name of this machine. */
  List<String> origins() {
    return hosts().stream().map(host -> "http://" + host).toList();
  }

  private List<String> hosts() {
    int port = server.getAddress().getPort();
    return List.of("127.0.0.1:" + port, "localhost:" + port);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Shown now = shown;
      String path = exchange.getRequestURI().getPath();
      Matcher file = PATH.matcher(path.equals("/") ? "/board.html" : path);
      if (!hosts().contains(String.valueOf(exchange.getRequestHeaders().getFirst("Host")))) {
        // A page of another site whose name leads here must not read these.
        refuse(exchange, 403, "Host: expected one of " + hosts());
      } else if (!exchange.getRequestMethod().equals("GET")) {
        refuse(exchange, 405, "expected: GET");
      } else if (now == null) {
        refuse(exchange, 503, "the bus starts");
      } else if (path.equals("/bus.json")) {
        String json = "{\"url\":\"" + now.bus() + "\",\"pace\":" + now.pace() + "}";
        send(exchange, now.bus(), "json", json.getBytes(StandardCharsets.UTF_8));
      } else if (file.matches()) {
        sendFile(exchange, now.bus(), file.group(1), file.group(2));
      } else {
        refuse(exchange, 404, "no such page");
      }
    }
  }

  private static void sendFile(HttpExchange exchange, URI bus, String name, String ending)
      throws IOException {
    try (InputStream in = DemoPages.class.getResourceAsStream(RESOURCES + "/" + name)) {
      if (in == null) {
        refuse(exchange, 404, "no such page");
      } else {
        send(exchange, bus, ending, in.readAllBytes());
      }
    }
  }

  private static void send(HttpExchange exchange, URI bus, String ending, byte[] body)
      throws IOException {
    // The SDK asks the bus with a plain GET why a connection has failed.
    String address = bus.getRawAuthority();
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", TYPES.getOrDefault(ending, "application/octet-stream"));
    headers.set("Cache-Control", "no-store");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Referrer-Policy", "no-referrer");
    headers.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://"
            + address
            + " http://"
            + address
            + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
  }

  private static void refuse(HttpExchange exchange, int status, String why) throws IOException {
    byte[] body = (why + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
