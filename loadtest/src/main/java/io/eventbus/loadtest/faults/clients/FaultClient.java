package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Client that is opened anew when it has ended, and knows where it is connected. For one thread,
 * but for {@link #where}.
 */
final class FaultClient implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(20);
  private static final ReconnectPolicy AT_ONCE =
      new ReconnectPolicy(
          Duration.ofMillis(50), Duration.ofSeconds(1), 2, 0.5, Integer.MAX_VALUE, true);

  private final String name;
  private final List<URI> urls;
  private final Recorder recorder;
  private final AtomicInteger connections = new AtomicInteger();
  private volatile String where = "nowhere";
  private volatile String lastProblem = "";
  private volatile EventBusClient client;

  /**
   * Opens it.
   *
   * @param urls the buses, the first one preferred
   * @throws EventBusException if none of them takes it in time
   */
  FaultClient(String name, List<URI> urls, Recorder recorder) {
    this.name = name;
    this.urls = urls;
    this.recorder = recorder;
    this.client = connect();
  }

  private EventBusClient connect() {
    ClientBuilder builder = EventBusClient.builder();
    urls.forEach(builder::url);
    return builder
        .name(name)
        .connectTimeout(CONNECT)
        .reconnect(AT_ONCE)
        .listener(
            new ConnectionListener() {
              @Override
              public void connected(ConnectionInfo connection) {
                recorder.connected(name, connection.bus());
                where = name + " at " + connection.bus() + "." + connections.incrementAndGet();
              }

              @Override
              public void busChanged(ConnectionInfo before, ConnectionInfo now) {
                recorder.moved();
                recorder.connected(name, now.bus());
                where = name + " moved to " + now.bus() + "." + connections.incrementAndGet();
              }

              @Override
              public void problem(EventBusException problem) {
                lastProblem = String.valueOf(problem.getMessage());
              }

              @Override
              public void producerChanged(long before, long now) {
                recorder.forgotten(name);
              }
            })
        .connect();
  }

  /** Returns the client. */
  EventBusClient get() {
    return client;
  }

  /** Returns name, bus and connection, for people; any thread. */
  String where() {
    return where;
  }

  /** Returns the last error that no stage was there for; any thread. */
  String lastProblem() {
    return lastProblem;
  }

  /** Ends the connection as a program does that is killed, and opens a new one. */
  void renew() {
    client.close(Duration.ZERO);
    client = connect();
  }

  @Override
  public void close() {
    client.close(Duration.ZERO);
  }
}
