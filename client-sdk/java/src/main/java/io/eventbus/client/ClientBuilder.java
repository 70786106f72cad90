package io.eventbus.client;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Builder of an {@link EventBusClient}: collects its settings and connects it. Only {@link #url}
 * has to be set. For one thread; every setting is checked by {@link #connect}.
 */
public final class ClientBuilder {
  private final List<URI> urls = new ArrayList<>();
  private final Map<String, String> attributes = new LinkedHashMap<>();
  private String name = "java-client";
  private @Nullable String token;
  private @Nullable String user;
  private @Nullable TokenSupplier tokens;
  private @Nullable SSLContext sslContext;
  private @Nullable Executor executor;
  private @Nullable ConnectionListener listener;
  private Duration connectTimeout = Duration.ofSeconds(10);
  private Duration closeTimeout = Duration.ofSeconds(10);
  private Duration sendTimeout = Duration.ofSeconds(30);
  private Duration silenceTimeout = Duration.ofSeconds(40);
  private ReconnectPolicy reconnect = ReconnectPolicy.DEFAULT;
  private int outboundBufferBytes = 16 * 1024 * 1024;
  private WhenFull whenFull = WhenFull.BLOCK;
  private Duration blockTimeout = Duration.ofSeconds(30);
  private int batchBytes = 64 * 1024;
  private Duration confirmTimeout = Duration.ofSeconds(30);
  private Duration ackInterval = Duration.ofMillis(100);
  private int trackedProducers = 100_000;
  private int callBufferBytes = 16 * 1024 * 1024;
  private final List<CallInterceptor> interceptors = new ArrayList<>();

  ClientBuilder() {}

  /**
   * Adds an address. With several, they are tried in turn, for the first connection too. When a
   * connection is lost, the configured addresses are tried first, and then those of other buses
   * that the last bus announced, up to 64; a client that was connected with {@code wss} uses only
   * {@code wss} of these.
   *
   * @param url for example {@code ws://localhost:8080/bus} or {@code wss://bus.example.org/bus}
   * @return this builder
   */
  public ClientBuilder url(String url) {
    return url(URI.create(url));
  }

  /**
   * Adds an address. With several, they are tried in turn, for the first connection too.
   *
   * @param url with the scheme {@code ws} or {@code wss}
   * @return this builder
   */
  public ClientBuilder url(URI url) {
    urls.add(url);
    return this;
  }

  /**
   * Sets a name for people: it appears in the bus's lists and in logs.
   *
   * @param newName 1 to 255 characters; need not be unique; default {@code java-client}
   * @return this builder
   */
  public ClientBuilder name(String newName) {
    this.name = newName;
    return this;
  }

  /**
   * Sets the token that the client authenticates with.
   *
   * @param newToken at most 16 KiB, or null for none (the default)
   * @return this builder
   */
  public ClientBuilder token(@Nullable String newToken) {
    this.token = newToken;
    this.user = null;
    this.tokens = null;
    return this;
  }

  /**
   * Sets the source of the client's tokens, in place of one {@link #token}: for tokens that expire.
   * The source is asked for each connection and each move to another bus, and before a token
   * expires while the connection lasts: after 70 to 80 % of its life, so that the connection does
   * not end. If that fails, it is asked again after a second, later each time, up to 30 s, and
   * {@link ConnectionListener#problem} is told; the bus closes the connection after the expiry, and
   * the client connects with a new token. A client whose token is refused tries once more with
   * another one.
   *
   * @param supplier asked off the I/O threads, with {@link #connectTimeout} for an answer
   * @return this builder
   */
  public ClientBuilder tokens(TokenSupplier supplier) {
    this.tokens = Objects.requireNonNull(supplier, "supplier");
    this.token = null;
    this.user = null;
    return this;
  }

  /**
   * Sets the user that the client authenticates as, in place of a {@link #token}. Without TLS
   * ({@code wss}) the password can be read on the network.
   *
   * @param newUser the user's name, 1 to 255 bytes of UTF-8
   * @param password at most 16 KiB
   * @return this builder
   */
  public ClientBuilder credentials(String newUser, String password) {
    this.user = Objects.requireNonNull(newUser, "user");
    this.token = Objects.requireNonNull(password, "password");
    this.tokens = null;
    return this;
  }

  /**
   * Adds an attribute that describes this client to the bus.
   *
   * @param attribute the name
   * @param value the value
   * @return this builder; at most 64 attributes, with names and values of 255 bytes each and 1,024
   *     bytes in all; {@link #connect} refuses more
   */
  public ClientBuilder attribute(String attribute, String value) {
    attributes.put(attribute, value);
    return this;
  }

  /**
   * Sets the trust and the keys for {@code wss}.
   *
   * @param context null (the default) for the JDK's own
   * @return this builder
   */
  public ClientBuilder sslContext(@Nullable SSLContext context) {
    this.sslContext = context;
    return this;
  }

  /**
   * Sets the executor of handlers, listeners and the dependents of stages. The order within a
   * subscription is kept with any executor; it must not run tasks in the calling thread, and must
   * not block in {@code execute}, because other clients' connections would have to wait.
   *
   * <p>It should queue tasks that it cannot run at once, without a bound: each subscription has one
   * task there at most. When it refuses to run a handler, that is tried again for 30 s with pauses
   * of 10 ms to 1 s, and nothing is read from the bus meanwhile; then, or when the executor is shut
   * down, the subscription is ended, which is reported ({@link ConnectionListener#problem}) and
   * counted. Failures of stages that it does not run within a second or two are told in a thread of
   * the SDK's.
   *
   * @param newExecutor not shut down by the client; null (the default) for daemon threads that all
   *     clients share: one for each processor, and one more for each handler that blocks
   * @return this builder
   */
  public ClientBuilder executor(@Nullable Executor newExecutor) {
    this.executor = newExecutor;
    return this;
  }

  /**
   * Sets the listener of the connection, in place of the log.
   *
   * @param newListener null (the default) for one that logs with slf4j, at most one line of a kind
   *     each 10 s: at ERROR that a bus has refused this client for good, at WARN handlers that fail
   *     (each kind of failure once with its stack), events that are missing or lost and other
   *     problems, at INFO connections that are lost and made
   * @return this builder
   */
  public ClientBuilder listener(@Nullable ConnectionListener newListener) {
    this.listener = newListener;
    return this;
  }

  /**
   * Sets the deadline of {@link #connect} and of every later attempt, from TCP to the bus's
   * Welcome. The addresses that a host name has are tried one after the other and share this time.
   *
   * @param timeout 1 ms to 1 h, default 10 s
   * @return this builder
   */
  public ClientBuilder connectTimeout(Duration timeout) {
    this.connectTimeout = timeout;
    return this;
  }

  /**
   * Sets how long {@link EventBusClient#close()} drains.
   *
   * @param timeout 0 to 1 h, default 10 s
   * @return this builder
   */
  public ClientBuilder closeTimeout(Duration timeout) {
    this.closeTimeout = timeout;
    return this;
  }

  /**
   * Sets the time within which one WebSocket message must be handed to the network; otherwise the
   * connection counts as dead. Longer than a bus may stall publishers for a slow subscriber (10 s).
   *
   * @param timeout 1 ms to 1 h, default 30 s
   * @return this builder
   */
  public ClientBuilder sendTimeout(Duration timeout) {
    this.sendTimeout = timeout;
    return this;
  }

  /**
   * Sets the time after which a connection counts as dead if nothing at all comes from the bus: it
   * is then ended with code 1006, and the client connects again as after any loss. After half the
   * time without data the client sends a WebSocket ping, so a bus that has nothing to send does not
   * count as dead. Time in which a slow handler keeps the client from reading does not count. Half
   * of it should be longer than a bus may stall publishers for a slow subscriber (10 s), as it
   * reads no pings meanwhile.
   *
   * @param timeout 1 s to 1 h, default 40 s
   * @return this builder
   */
  public ClientBuilder silenceTimeout(Duration timeout) {
    this.silenceTimeout = timeout;
    return this;
  }

  /**
   * Sets the policy for connecting again after a connection was lost.
   *
   * @param policy default {@link ReconnectPolicy#DEFAULT}
   * @return this builder
   */
  public ClientBuilder reconnect(ReconnectPolicy policy) {
    this.reconnect = policy;
    return this;
  }

  /**
   * Sets the maximum size in bytes of events that are unsent, or sent and unconfirmed.
   *
   * @param bytes 4 KiB to 2 GiB - 1, default 16 MiB; an event that is bigger than the whole buffer
   *     is refused
   * @return this builder
   */
  public ClientBuilder outboundBufferBytes(int bytes) {
    this.outboundBufferBytes = bytes;
    return this;
  }

  /**
   * Sets the reaction to a full outbound buffer.
   *
   * @param choice default {@link WhenFull#BLOCK}
   * @return this builder
   */
  public ClientBuilder whenFull(WhenFull choice) {
    this.whenFull = choice;
    return this;
  }

  /**
   * Sets the time that publishing waits for room with {@link WhenFull#BLOCK}.
   *
   * @param timeout 0 to 1 h, default 30 s
   * @return this builder
   */
  public ClientBuilder blockTimeout(Duration timeout) {
    this.blockTimeout = timeout;
    return this;
  }

  /**
   * Sets the size at which a WebSocket message is full. Events never wait for a message to fill up:
   * they leave as soon as the one before has left. A single event may be bigger.
   *
   * @param bytes 1 KiB to 4 MiB, default 64 KiB
   * @return this builder
   */
  public ClientBuilder batchBytes(int bytes) {
    this.batchBytes = bytes;
    return this;
  }

  /**
   * Sets the time that a published event waits for the bus's confirmation, over all reconnects; so
   * do subscriptions, those that are made while there is no connection too.
   *
   * @param timeout 1 ms to 1 h, default 30 s
   * @return this builder
   */
  public ClientBuilder confirmTimeout(Duration timeout) {
    this.confirmTimeout = timeout;
    return this;
  }

  /**
   * Sets the interval at which handled events are acknowledged to the bus, one frame for each topic
   * and producer.
   *
   * @param interval 1 ms to 1 min, default 100 ms
   * @return this builder
   */
  public ClientBuilder ackInterval(Duration interval) {
    this.ackInterval = interval;
    return this;
  }

  /**
   * Sets the number of pairs of topic and producer that are remembered, to detect duplicates and
   * gaps. Those that were quiet for longest are forgotten first; a forgotten one starts anew.
   *
   * @param pairs 1 to 100,000,000, default 100,000; each takes about 200 bytes
   * @return this builder
   */
  public ClientBuilder trackedProducers(int pairs) {
    this.trackedProducers = pairs;
    return this;
  }

  /**
   * Sets the maximum size in bytes of requests to services that are not sent yet, or may be sent
   * again: the body of a request that may be repeated counts until its answer. A request that does
   * not fit fails with {@link EventBusException.CallFailed.Overloaded}.
   *
   * @param bytes 4 KiB to 2 GiB - 1; default 16 MiB
   * @return this builder
   */
  public ClientBuilder callBufferBytes(int bytes) {
    this.callBufferBytes = bytes;
    return this;
  }

  /**
   * Adds an interceptor of every request that the client makes or answers.
   *
   * @param interceptor the first one added sees a request first
   * @return this builder
   */
  public ClientBuilder callInterceptor(CallInterceptor interceptor) {
    interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
    return this;
  }

  /**
   * Connects and waits for the connection. Each address is tried once, all within the connect
   * time-out; with {@link ReconnectPolicy#withRetryFirst} again and again until it is over.
   *
   * @return a connected client; close it
   * @throws EventBusException.NotConnected if no bus could be reached; retry later
   * @throws EventBusException.NoToken if the supplier of tokens failed; retry later
   * @throws EventBusException.Refused if a bus refused this client
   * @throws EventBusException.TimedOut if the deadline passed, or the thread was interrupted (it is
   *     then still interrupted)
   * @throws IllegalArgumentException if a setting is out of range, saying which
   */
  public EventBusClient connect() {
    CompletionStage<EventBusClient> stage = connectAsync();
    try {
      // The provider keeps the deadline; the second is for its answer.
      return stage
          .toCompletableFuture()
          .get(connectTimeout.plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      abandon(stage);
      throw new EventBusException.TimedOut("connecting to " + urls + " was interrupted");
    } catch (TimeoutException e) {
      abandon(stage);
      throw new EventBusException.TimedOut(
          "connecting to " + urls + " took longer than " + connectTimeout.toMillis() + " ms");
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof EventBusException known) {
        throw known;
      }
      throw new CompletionException(cause);
    }
  }

  private static void abandon(CompletionStage<EventBusClient> stage) {
    stage.thenAccept(client -> client.close(Duration.ZERO));
  }

  /**
   * Connects without waiting.
   *
   * @return a stage that completes with a connected client, or with an exception of {@link
   *     #connect}
   * @throws IllegalArgumentException if a setting is out of range, saying which
   */
  public CompletionStage<EventBusClient> connectAsync() {
    ClientOptions options = options();
    return ServiceLoader.load(ClientProvider.class, ClientBuilder.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "no "
                        + ClientProvider.class.getName()
                        + " (expected: the SDK's own,"
                        + " named in META-INF/services)"))
        .connect(options);
  }

  /**
   * Returns the settings, checked.
   *
   * @return immutable settings
   * @throws IllegalArgumentException if a setting is out of range, saying which
   */
  public ClientOptions options() {
    return new ClientOptions(
        urls,
        name,
        user,
        token,
        tokens,
        attributes,
        sslContext,
        executor,
        listener,
        new ClientOptions.Connection(
            connectTimeout, closeTimeout, sendTimeout, silenceTimeout, reconnect),
        new ClientOptions.Outbound(
            outboundBufferBytes, whenFull, blockTimeout, batchBytes, confirmTimeout),
        new ClientOptions.Calls(callBufferBytes, interceptors),
        ackInterval,
        trackedProducers);
  }
}
