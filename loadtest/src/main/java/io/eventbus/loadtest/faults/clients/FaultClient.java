package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.client.Truncated;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Client that is opened anew when it has ended, and knows where it is connected. For one thread,
 * but for {@link #where} and {@link #bus}.
 */
final class FaultClient implements AutoCloseable {
  /** Code of a connection that has ended without a Close frame. */
  private static final int LOST = 1006;

  private static final Duration CONNECT = Duration.ofSeconds(20);
  private static final ReconnectPolicy AT_ONCE =
      new ReconnectPolicy(
          Duration.ofMillis(50), Duration.ofSeconds(1), 2, 0.5, Integer.MAX_VALUE, true);

  private final String name;
  private final List<URI> urls;
  private final Recorder recorder;
  private final Watch watch;
  private final AtomicInteger connections = new AtomicInteger();
  private volatile String where = "nowhere";
  private volatile String bus = "";
  private volatile String lastProblem = "";
  private Listener listener = new Listener();
  private volatile EventBusClient client;

  /** Receiver of what a client is told. Called by one thread. */
  interface Watch {
    /** Called when a connection is lost, otherwise than by this program. */
    default void disconnected() {}

    /** Called when a bus has ended the connection or a consumer, or has refused something. */
    default void ended() {}

    /** Called when events do not come. */
    default void truncated(Truncated truncated) {}
  }

  /**
   * Opens it.
   *
   * @param urls the buses, the first one preferred
   * @throws EventBusException if none of them takes it in time
   */
  FaultClient(String name, List<URI> urls, Recorder recorder) {
    this(name, urls, recorder, new Watch() {});
  }

  /**
   * Opens it.
   *
   * @param urls the buses, the first one preferred
   * @throws EventBusException if none of them takes it in time
   */
  FaultClient(String name, List<URI> urls, Recorder recorder, Watch watch) {
    this.name = name;
    this.urls = urls;
    this.recorder = recorder;
    this.watch = watch;
    this.client = connect();
  }

  private EventBusClient connect() {
    ClientBuilder builder = EventBusClient.builder();
    urls.forEach(builder::url);
    listener = new Listener();
    return builder
        .name(name)
        .connectTimeout(CONNECT)
        .reconnect(AT_ONCE)
        .listener(listener)
        .connect();
  }

  private final class Listener implements ConnectionListener {
    private volatile boolean closed;

    /** Whether this program has cut the connection, and the client has not noticed yet. */
    private volatile boolean cut;

    @Override
    public void connected(ConnectionInfo connection) {
      cut = false;
      at(connection, "at");
    }

    private void at(ConnectionInfo connection, String how) {
      recorder.connected(name, connection.bus());
      bus = connection.bus();
      where = name + " " + how + " " + bus + "." + connections.incrementAndGet();
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      if (cut) {
        cut = false;
      } else if (!closed && code == LOST) {
        watch.disconnected();
      } else if (!closed) {
        watch.ended();
      }
    }

    @Override
    public void busChanged(ConnectionInfo before, ConnectionInfo now) {
      recorder.moved();
      watch.ended();
      at(now, "moved to");
    }

    @Override
    public void problem(EventBusException problem) {
      lastProblem = String.valueOf(problem.getMessage());
      watch.ended();
    }

    @Override
    public void truncated(Truncated truncated) {
      watch.truncated(truncated);
    }

    @Override
    public void producerChanged(long before, long now) {
      recorder.forgotten(name);
    }
  }

  /** Returns the client. */
  EventBusClient get() {
    return client;
  }

  /** Returns name, bus and connection, for people; any thread. */
  String where() {
    return where;
  }

  /** Returns the bus of the connection; any thread. */
  String bus() {
    return bus;
  }

  /** Notes that this program is about to cut the connection. */
  void cutting() {
    listener.cut = true;
  }

  /** Returns the last error that no stage was there for; any thread. */
  String lastProblem() {
    return lastProblem;
  }

  /** Ends the connection as a program does that is killed, and opens a new one. */
  void renew() {
    close();
    client = connect();
  }

  @Override
  public void close() {
    listener.closed = true;
    client.close(Duration.ZERO);
  }
}
