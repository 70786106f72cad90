package io.eventbus.client;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Checked settings of a client; {@link ClientBuilder} creates them and documents each.
 *
 * @param urls addresses of buses, at least one
 * @param name a name for people
 * @param user the name that the client authenticates with, or null for none
 * @param token the secret that the client authenticates with: the user's password, where there is a
 *     user; or null
 * @param tokens the source of tokens, in place of one token; or null
 * @param attributes descriptions of this client for the bus
 * @param sslContext for {@code wss}, or null for the JDK's
 * @param executor runs handlers, or null for threads of the client's own
 * @param listener the listener of the connection, or null for one that logs
 * @param connection time-outs and back-off
 * @param outbound the outbound buffer
 * @param calls requests to services
 * @param ackInterval the interval of acknowledgements of handled events
 * @param trackedProducers the number of (topic, producer) pairs that are remembered
 */
public record ClientOptions(
    List<URI> urls,
    String name,
    @Nullable String user,
    @Nullable String token,
    @Nullable TokenSupplier tokens,
    Map<String, String> attributes,
    @Nullable SSLContext sslContext,
    @Nullable Executor executor,
    @Nullable ConnectionListener listener,
    Connection connection,
    Outbound outbound,
    Calls calls,
    Duration ackInterval,
    int trackedProducers) {

  /**
   * Checks the parts.
   *
   * @param urls as above
   * @param name as above
   * @param user as above
   * @param token as above
   * @param tokens as above
   * @param attributes as above
   * @param sslContext as above
   * @param executor as above
   * @param listener as above
   * @param connection as above
   * @param outbound as above
   * @param calls as above
   * @param ackInterval as above
   * @param trackedProducers as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public ClientOptions {
    urls = List.copyOf(urls);
    attributes = Map.copyOf(attributes);
    Objects.requireNonNull(connection, "connection");
    Objects.requireNonNull(outbound, "outbound");
    Objects.requireNonNull(calls, "calls");
    if (urls.isEmpty()) {
      throw new IllegalArgumentException("urls: none (expected: at least one)");
    }
    urls.forEach(ClientOptions::checkUrl);
    Checks.range("name length", name.length(), 1, 255);
    if (user != null) {
      Checks.range("user, bytes of UTF-8", user.getBytes(StandardCharsets.UTF_8).length, 1, 255);
    }
    if (tokens != null && (token != null || user != null)) {
      throw new IllegalArgumentException(
          "tokens: both a supplier and a token or user (expected: one of them)");
    }
    Checks.range("attributes", attributes.size(), 0, 64);
    Checks.range("attributes, bytes of UTF-8", utf8Bytes(attributes), 0, 1024);
    Checks.range("ackInterval", ackInterval, Duration.ofMillis(1), Duration.ofMinutes(1));
    Checks.range("trackedProducers", trackedProducers, 1, 100_000_000);
  }

  /** Returns the settings without the token. */
  @Override
  public String toString() {
    return "ClientOptions[urls="
        + urls
        + ", name="
        + name
        + ", user="
        + user
        + ", token="
        + (token == null ? "none" : "***")
        + ", tokens="
        + (tokens == null ? "none" : "supplied")
        + ", attributes="
        + attributes
        + ", sslContext="
        + sslContext
        + ", executor="
        + executor
        + ", listener="
        + listener
        + ", connection="
        + connection
        + ", outbound="
        + outbound
        + ", calls="
        + calls
        + ", ackInterval="
        + ackInterval
        + ", trackedProducers="
        + trackedProducers
        + ']';
  }

  private static long utf8Bytes(Map<String, String> attributes) {
    return attributes.entrySet().stream()
        .flatMap(attribute -> Stream.of(attribute.getKey(), attribute.getValue()))
        .mapToLong(text -> text.getBytes(StandardCharsets.UTF_8).length)
        .sum();
  }

  private static void checkUrl(URI url) {
    boolean webSocket = "ws".equals(url.getScheme()) || "wss".equals(url.getScheme());
    if (!webSocket || url.getHost() == null || url.getFragment() != null) {
      throw new IllegalArgumentException(
          "url: " + url + " (expected: ws://host:port/path or wss://host:port/path)");
    }
  }

  /**
   * Time-outs and back-off.
   *
   * @param connectTimeout for one attempt, from TCP to Welcome
   * @param closeTimeout for draining
   * @param sendTimeout for one WebSocket message
   * @param silenceTimeout for data from the bus
   * @param reconnect the policy for connecting again
   */
  public record Connection(
      Duration connectTimeout,
      Duration closeTimeout,
      Duration sendTimeout,
      Duration silenceTimeout,
      ReconnectPolicy reconnect) {
    /**
     * Checks the parts.
     *
     * @param connectTimeout as above
     * @param closeTimeout as above
     * @param sendTimeout as above
     * @param silenceTimeout as above
     * @param reconnect as above
     * @throws IllegalArgumentException if one is out of range, saying which
     */
    public Connection {
      Objects.requireNonNull(reconnect, "reconnect");
      Checks.range("connectTimeout", connectTimeout, Duration.ofMillis(1), Duration.ofHours(1));
      Checks.range("closeTimeout", closeTimeout, Duration.ZERO, Duration.ofHours(1));
      Checks.range("sendTimeout", sendTimeout, Duration.ofMillis(1), Duration.ofHours(1));
      Checks.range("silenceTimeout", silenceTimeout, Duration.ofSeconds(1), Duration.ofHours(1));
    }
  }

  /**
   * Settings of the outbound buffer.
   *
   * @param bufferBytes unsent and unconfirmed bytes at most
   * @param whenFull the reaction to a full buffer
   * @param blockTimeout the time that {@link WhenFull#BLOCK} waits
   * @param batchBytes bytes of one WebSocket message
   * @param confirmTimeout the time to wait for a confirmation
   */
  public record Outbound(
      int bufferBytes,
      WhenFull whenFull,
      Duration blockTimeout,
      int batchBytes,
      Duration confirmTimeout) {
    /**
     * Checks the parts.
     *
     * @param bufferBytes as above
     * @param whenFull as above
     * @param blockTimeout as above
     * @param batchBytes as above
     * @param confirmTimeout as above
     * @throws IllegalArgumentException if one is out of range, saying which
     */
    public Outbound {
      Objects.requireNonNull(whenFull, "whenFull");
      Checks.range("outboundBufferBytes", bufferBytes, 4 * 1024, Integer.MAX_VALUE);
      Checks.range("blockTimeout", blockTimeout, Duration.ZERO, Duration.ofHours(1));
      Checks.range("batchBytes", batchBytes, 1024, 4 * 1024 * 1024);
      Checks.range("confirmTimeout", confirmTimeout, Duration.ofMillis(1), Duration.ofHours(1));
    }
  }

  /**
   * Settings of requests to services.
   *
   * @param bufferBytes maximum bytes of requests that are not sent yet or may be sent again
   * @param interceptors interceptors of each request
   */
  public record Calls(int bufferBytes, List<CallInterceptor> interceptors) {
    /**
     * Checks the parts.
     *
     * @param bufferBytes as above
     * @param interceptors as above; copied
     * @throws IllegalArgumentException if one is out of range, saying which
     */
    public Calls {
      interceptors = List.copyOf(interceptors);
      Checks.range("callBufferBytes", bufferBytes, 4 * 1024, Integer.MAX_VALUE);
    }
  }
}
