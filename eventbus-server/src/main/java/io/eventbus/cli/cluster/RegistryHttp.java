package io.eventbus.cli.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.Text;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Client of the administration port of a bus. */
public final class RegistryHttp {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<Integer> UNABLE = Set.of(404, 503, 504);

  private final URI bus;
  private final String root;
  private final Duration timeout;
  private final HttpClient client;
  private final @Nullable String authorization;

  /**
   * Prepares requests.
   *
   * @param bus URL of the administration port
   */
  public RegistryHttp(URI bus, String root, Duration timeout) {
    this(bus, root, timeout, null, null);
  }

  /**
   * Prepares requests with credentials.
   *
   * @param authorization the header of that name, or null
   * @param ca certificates to trust instead of Java's own, or null
   */
  RegistryHttp(
      URI bus,
      String root,
      Duration timeout,
      @Nullable String authorization,
      @Nullable SSLContext ca) {
    this.authorization = authorization;
    this.bus = bus;
    this.root = root;
    this.timeout = timeout;
    HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(timeout);
    if (ca != null) {
      builder.sslContext(ca);
    }
    this.client = builder.build();
  }

  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  public JsonNode get(String path) throws InterruptedException {
    return send("GET", path);
  }

  /**
   * Sends a request to a path below the root.
   *
   * @throws CliFailure if there is no answer, or none of success
   */
  public JsonNode send(String method, String path) throws InterruptedException {
    return successful(text(method, path));
  }

  private HttpResponse<String> text(String method, String path) throws InterruptedException {
    return exchange(method, path, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private JsonNode successful(HttpResponse<String> response) {
    JsonNode json = parse(response.body());
    if (response.statusCode() >= 300) {
      throw failure(response.statusCode(), json);
    }
    return json;
  }

  /**
   * Sends a request again while the answer says that it was not done in time: it goes on then.
   *
   * @throws CliFailure if it is not done after {@code limit}, or for any other reason
   */
  JsonNode sendUntilDone(String method, String path, Duration limit) throws InterruptedException {
    long begun = System.nanoTime();
    while (true) {
      HttpResponse<String> response = text(method, path);
      if (response.statusCode() != 504 || System.nanoTime() - begun > limit.toNanos()) {
        return successful(response);
      }
    }
  }

  /**
   * Sends a request, as {@link #send}, to a bus that perhaps cannot do it now, or does not see it
   * done in time.
   *
   * @return the answer; empty if the bus says so, with status 404, 503 or 504
   * @throws CliFailure if there is no answer, or another one
   */
  public Optional<JsonNode> sendIfAble(String method, String path) throws InterruptedException {
    HttpResponse<String> response = text(method, path);
    return UNABLE.contains(response.statusCode())
        ? Optional.empty()
        : Optional.of(successful(response));
  }

  /** Returns an answer that is plain text. */
  public String text(String path) throws InterruptedException {
    HttpResponse<String> response = text("GET", path);
    if (response.statusCode() >= 300) {
      throw failure(response.statusCode(), JSON.createObjectNode());
    }
    return response.body();
  }

  /** Loads an answer into a file, which is made anew. */
  void load(String path, Path file) throws InterruptedException {
    HttpResponse<Path> response = exchange("GET", path, HttpResponse.BodyHandlers.ofFile(file));
    if (response.statusCode() >= 300) {
      throw failure(response.statusCode(), JSON.createObjectNode());
    }
  }

  private <T> HttpResponse<T> exchange(
      String method, String path, HttpResponse.BodyHandler<T> handler) throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(bus + root + path))
            .timeout(timeout)
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    try {
      return client.send(request.build(), handler);
    } catch (HttpTimeoutException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED,
          "no answer of the administration at " + bus + " within " + timeout.toMillis() + " ms",
          e);
    } catch (IOException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED,
          "cannot reach the administration of a bus at "
              + bus
              + " (expected: a running bus; --admin names another one): "
              + Failures.describe(e),
          e);
    }
  }

  private JsonNode parse(String body) {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED, "what answers at " + bus + " is no bus: no JSON", e);
    }
  }

  private static CliFailure failure(int status, JsonNode json) {
    String told = Text.printable(json.path("error").path("message").asText("HTTP " + status));
    return switch (status) {
      case 401, 403 -> new CliFailure(ExitCode.NOT_CONNECTED, told);
      case 409 -> new CliFailure(ExitCode.REFUSED, "refused: " + told);
      case 503, 504 -> new CliFailure(ExitCode.FAILED, "it was not done: " + told);
      default -> new CliFailure(ExitCode.FAILED, told);
    };
  }
}
