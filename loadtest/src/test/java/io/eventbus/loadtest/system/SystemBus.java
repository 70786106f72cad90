package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A bus of the packaged jar as a process, which keeps its port for other buses and its directory
 * when it is started again. For one thread.
 */
final class SystemBus {
  static final Duration DEADLINE = Duration.ofSeconds(60);

  /** Token of the administration port, which buses in networks of their own ask for. */
  static final String ADMIN_TOKEN = "token-of-the-administration-port";

  private static final Path JAR = Path.of("..", "eventbus-server", "target", "eventbus.jar");
  private static final Pattern LISTENS =
      Pattern.compile("listens on (ws://\\S+), administration on (http://\\S+)");

  /** Place where a bus runs. */
  record Place(List<String> prefix, String clients, String links) {
    static final Place HERE = new Place(List.of(), "127.0.0.1", "127.0.0.1");
  }

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient http = HttpClient.newHttpClient();
  private final String name;
  private final Place place;
  private final Map<String, String> settings = new HashMap<>();
  // Each bus has to know the others before they run.
  private final int linkPort = FreePorts.find(1).get(0);
  private @Nullable ServerProcess started;
  private @Nullable ProcessHandle process;
  private URI clients = URI.create("ws://nowhere");
  private URI admin = URI.create("http://nowhere");

  /**
   * Prepares a bus.
   *
   * @param place where it runs
   */
  SystemBus(String name, Place place, Map<String, String> settings) {
    this.name = name;
    this.place = place;
    this.settings.putAll(settings);
  }

  /** Tells other buses, and their clients, that clients reach it there. */
  void reachedBy(URI uri) {
    settings.put("EVENTBUS_CLUSTER_CLIENT_URLS", uri.toString());
  }

  /** Tells other buses what fails together with it. */
  void in(String zone) {
    settings.put("EVENTBUS_CLUSTER_ZONE", zone);
  }

  /** Starts it; {@link #awaitListening} is next. */
  void start(String join) {
    List<String> command = new ArrayList<>(place.prefix());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", JAR.toString(), "serve", "--host", place.clients()));
    command.addAll(List.of("--port", "0", "--admin-host", place.clients(), "--admin-port", "0"));
    command.addAll(List.of("--join", join));
    Map<String, String> variables = new HashMap<>(settings);
    variables.put("EVENTBUS_BUS_NAME", name);
    // In a network of its own a client is on another machine.
    variables.put("EVENTBUS_AUTH_ANONYMOUS", "everyone");
    variables.put("EVENTBUS_AUTH_BLOCK", "everyone");
    variables.put("EVENTBUS_ADMIN_PLAINTEXT", "true");
    variables.put("EVENTBUS_CLUSTER_HOST", place.links());
    variables.put("EVENTBUS_CLUSTER_PORT", Integer.toString(linkPort));
    ServerProcess server = ServerProcess.start(name, command, variables);
    started = server;
    process = ProcessHandle.of(server.pid()).orElseThrow();
  }

  void awaitListening() {
    Matcher listens = process().awaitOutput(LISTENS, DEADLINE);
    clients = URI.create(listens.group(1));
    admin = URI.create(listens.group(2));
  }

  String name() {
    return name;
  }

  /** Returns the address of its links that other buses are told. */
  String link() {
    return place.links() + ":" + linkPort;
  }

  URI uri() {
    return clients;
  }

  private ServerProcess process() {
    return Objects.requireNonNull(started, "started");
  }

  boolean isAlive() {
    return process().isAlive();
  }

  String tail() {
    return process().tail();
  }

  /** SIGKILL; does not wait. */
  void kill() {
    handle().destroyForcibly();
  }

  /** SIGTERM; does not wait. */
  void terminate() {
    handle().destroy();
  }

  void signal(String signal) throws IOException, InterruptedException {
    int code =
        new ProcessBuilder("kill", "-" + signal, Long.toString(process().pid())).start().waitFor();
    assertThat(code).isZero();
  }

  void awaitEnd() throws Exception {
    handle().onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private ProcessHandle handle() {
    // Kept, because one that has ended is not found any more.
    return Objects.requireNonNull(process, "started");
  }

  void close() {
    if (started != null) {
      started.close();
    }
  }

  // ---- The administration port

  JsonNode get(String path) {
    return ask("GET", path);
  }

  JsonNode ask(String method, String path) {
    HttpResponse<String> answer = answer(method, path);
    // /readyz answers 503 with what is missing.
    assertThat(answer.statusCode()).as(answer.body()).isIn(200, 202, 503);
    try {
      return json.readTree(answer.body());
    } catch (IOException e) {
      throw new AssertionError(answer.body(), e);
    }
  }

  /** The answer, whatever it says. */
  HttpResponse<String> answer(String method, String path) {
    try {
      return http.send(
          HttpRequest.newBuilder(URI.create(admin + path))
              .timeout(DEADLINE)
              .header("Authorization", "Bearer " + ADMIN_TOKEN)
              .method(method, HttpRequest.BodyPublishers.noBody())
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(name + " does not answer:\n" + tail(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  JsonNode registry() {
    return get("/readyz").path("registry");
  }

  double metric(String sample) {
    Matcher found =
        Pattern.compile("^" + Pattern.quote(sample) + " (\\S+)$", Pattern.MULTILINE)
            .matcher(answer("GET", "/metrics").body());
    return found.find() ? Double.parseDouble(found.group(1)) : Double.NaN;
  }

  /** Waits until it says that it is so of its part in the registry. */
  void awaitRegistry(Predicate<JsonNode> condition) {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!condition.test(registry())) {
      assertThat(System.nanoTime()).as(get("/readyz") + "\n" + tail()).isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  void awaitUp() {
    awaitRegistry(r -> r.path("state").asText().equals("UP"));
    assertThat(get("/readyz").path("state").asText()).isEqualTo("UP");
  }
}
