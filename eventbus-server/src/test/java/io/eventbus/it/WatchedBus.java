package io.eventbus.it;

import io.eventbus.server.BusServer;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Bus with well-behaved clients beside those of the test. At the end it checks that these noticed
 * nothing of the others, and that nothing of the others is left in memory.
 */
final class WatchedBus implements AutoCloseable {
  private static final long POLL_NANOS = 2_000_000;

  /**
   * Deadline that only notices a hang: elections and joining take long on a busy machine or disk.
   */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(60);

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
    return value(metrics(), name);
  }

  private String metrics() {
    try (var in =
        URI.create("http://127.0.0.1:" + server.adminPort() + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new AssertionError("the administration port does not answer", e);
    }
  }

  private static double value(String metrics, String name) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no metric " + name + " in " + metrics));
  }

  double closed(String reason) {
    return metric("eventbus_connections_closed_total{reason=\"" + reason + "\"}");
  }

  double dropped(String reason) {
    return metric("eventbus_dropped_events_total{reason=\"" + reason + "\"}");
  }

  static void await(BooleanSupplier condition, Supplier<String> otherwise) {
    long deadline = System.nanoTime() + MAX_NANOS;
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
    Map<String, Double> expected =
        Map.of(
            "eventbus_connections",
            (double) connections,
            "eventbus_subscriptions",
            (double) subscriptions,
            "eventbus_memory_used_bytes",
            0.0,
            "eventbus_queue_bytes",
            0.0);
    Map<String, Double> last = new TreeMap<>();
    await(
        () -> {
          String metrics = metrics();
          expected.keySet().forEach(name -> last.put(name, value(metrics, name)));
          return last.equals(expected);
        },
        () -> "left: " + last + " (expected: " + expected + ")");
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
