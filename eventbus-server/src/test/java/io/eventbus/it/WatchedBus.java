package io.eventbus.it;

import io.eventbus.server.BusServer;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A bus with well-behaved clients beside those of the test. At the end it checks that nothing of
 * what the others did was felt, and that nothing is left of it in memory.
 */
final class WatchedBus implements AutoCloseable {
  private static final long POLL_NANOS = 2_000_000;

  private final long pinnedBefore = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
  private final BusServer server;
  private final @Nullable WellBehaved pair;

  private WatchedBus(boolean withPair, String... settings) throws IOException {
    server = TestBus.start(settings);
    pair = withPair ? WellBehaved.start(server.uri()) : null;
  }

  static WatchedBus start(String... settings) throws IOException {
    return new WatchedBus(true, settings);
  }

  /** Starts one without the well-behaved clients. */
  static WatchedBus alone(String... settings) throws IOException {
    return new WatchedBus(false, settings);
  }

  BusServer server() {
    return server;
  }

  URI uri() {
    return server.uri();
  }

  WellBehaved pair() {
    return Objects.requireNonNull(pair, "started alone");
  }

  /**
   * Reads a metric from the administration port; labels as in the text, for example {@code
   * a{b="c"}}.
   */
  double metric(String name) {
    try (var in =
        URI.create("http://127.0.0.1:" + server.adminPort() + "/metrics").toURL().openStream()) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return text.lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no metric " + name + " in " + text));
    } catch (IOException e) {
      throw new AssertionError("the administration port does not answer", e);
    }
  }

  double closed(String reason) {
    return metric("eventbus_connections_closed_total{reason=\"" + reason + "\"}");
  }

  double dropped(String reason) {
    return metric("eventbus_dropped_events_total{reason=\"" + reason + "\"}");
  }

  static void await(BooleanSupplier condition, Supplier<String> otherwise) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RawClient.DEADLINE_MILLIS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(otherwise.get());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /**
   * Checks that the well-behaved clients go on, and that nothing is left of all others once they
   * have gone.
   */
  void check() {
    pair().awaitProgress();
    pair().pause();
    try {
      awaitEmpty(2, 1);
    } finally {
      pair().resume();
    }
  }

  private void awaitEmpty(int connections, int subscriptions) {
    await(
        () ->
            metric("eventbus_connections") == connections
                && metric("eventbus_memory_used_bytes") == 0
                && metric("eventbus_subscriptions") == subscriptions
                && metric("eventbus_queue_bytes") == 0,
        () ->
            "left: "
                + metric("eventbus_connections")
                + " connections (expected: "
                + connections
                + "), "
                + metric("eventbus_subscriptions")
                + " subscriptions (expected: "
                + subscriptions
                + "), "
                + metric("eventbus_memory_used_bytes")
                + " bytes (expected: 0)");
    await(
        () -> PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() <= pinnedBefore,
        () ->
            "direct memory: "
                + PooledByteBufAllocator.DEFAULT.pinnedDirectMemory()
                + " bytes (expected: at most "
                + pinnedBefore
                + ")");
  }

  @Override
  public void close() throws IOException {
    try (server) {
      if (pair != null) {
        pair.awaitProgress();
        pair.close();
      }
      awaitEmpty(0, 0);
    }
  }
}
