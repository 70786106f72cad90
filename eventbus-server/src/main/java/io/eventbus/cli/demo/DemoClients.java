package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Clients of a demo, which end with it. For one thread. */
final class DemoClients implements AutoCloseable {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  private final Duration timeout;
  private final List<EventBusClient> clients = new ArrayList<>();

  /**
   * Creates it without clients.
   *
   * @param timeout of a connection
   */
  DemoClients(Duration timeout) {
    this.timeout = timeout;
  }

  EventBusClient connect(URI uri, String name) {
    return connect(uri, name, new ConnectionListener() {});
  }

  /**
   * Connects a client.
   *
   * @throws CliFailure if it cannot
   */
  EventBusClient connect(URI uri, String name, ConnectionListener listener) {
    try {
      EventBusClient client =
          EventBusClient.builder()
              .url(uri)
              .name(name)
              .listener(listener)
              .connectTimeout(timeout)
              .connect();
      clients.add(client);
      return client;
    } catch (EventBusException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED, "cannot connect to " + uri + ": " + Failures.describe(e), e);
    }
  }

  /**
   * Waits for the end of a step.
   *
   * @param failed the step, for people, such as "subscriber archive cannot unsubscribe"
   * @throws CliFailure if it fails or takes too long
   */
  static void settle(CompletionStage<?> stage, String failed, Duration timeout)
      throws InterruptedException {
    try {
      stage.toCompletableFuture().get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable failure = Failures.unwrap(e);
      throw new CliFailure(ExitCode.FAILED, failed + ": " + Failures.describe(failure), failure);
    } catch (TimeoutException e) {
      throw new CliFailure(ExitCode.FAILED, failed + " within " + timeout.toSeconds() + " s", e);
    }
  }

  @Override
  public void close() {
    clients.forEach(client -> client.close(CLOSE_TIMEOUT));
  }
}
