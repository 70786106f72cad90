package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.DriverException;
import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

/** Connections of a session. Any thread. */
final class NatsConnections implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final Duration CLOSE_TOGETHER = Duration.ofSeconds(5);

  private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();

  Connection open(String name, String url) {
    Options options =
        Options.builder()
            .server(url)
            .connectionName(name)
            .connectionTimeout(DEADLINE)
            // A connection that broke has lost events: it shall not look well again.
            .noReconnect()
            // The default one writes a log line for each.
            .errorListener(new ErrorListener() {})
            .build();
    try {
      Connection connection = Nats.connect(options);
      connections.add(connection);
      return connection;
    } catch (IOException e) {
      throw new DriverException(name + " cannot connect to " + url, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while connecting to " + url, e);
    }
  }

  /** Waits for the server's answer to everything so far. */
  static void flush(Connection connection) {
    try {
      connection.flush(DEADLINE);
    } catch (TimeoutException e) {
      throw new DriverException("no answer within " + DEADLINE.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while flushing", e);
    }
  }

  static void close(Connection connection) {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    long end = System.nanoTime() + CLOSE_TOGETHER.toNanos();
    for (Connection connection : connections) {
      if (System.nanoTime() < end) {
        close(connection);
      }
    }
  }
}
