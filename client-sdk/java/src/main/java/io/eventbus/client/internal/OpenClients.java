package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.protocol.DurationText;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clients of this process that are not closed. When the process ends, their published events are
 * delivered, or the number of lost ones is logged. Any thread may use it.
 */
final class OpenClients {
  /** Time that the end of a process waits at most, whatever its clients' {@code closeTimeout}. */
  static final Duration MAX_TIMEOUT = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(OpenClients.class);

  static final OpenClients ALL = new OpenClients();

  // Both guarded by this. There is no hook without a client: it would keep the class loader.
  private final Map<Outbox, Client> open = new HashMap<>();
  private @Nullable Thread hook;

  /** Parts of a client that its end needs. */
  record Client(
      String name, Outbox outbox, Barriers barriers, ClientOptions options, MicroClock clock) {
    Duration timeout() {
      Duration timeout = options.connection().closeTimeout();
      return timeout.compareTo(MAX_TIMEOUT) < 0 ? timeout : MAX_TIMEOUT;
    }
  }

  private OpenClients() {}

  synchronized void add(Client client) {
    open.put(client.outbox(), client);
    if (hook == null) {
      Thread made = new Thread(() -> finish(all()), "eventbus-exit");
      try {
        Runtime.getRuntime().addShutdownHook(made);
        hook = made;
      } catch (IllegalStateException e) {
        LOG.debug("{}: made while the process ends", client.name(), e);
      }
    }
  }

  synchronized void remove(Outbox outbox) {
    open.remove(outbox);
    Thread made = hook;
    if (made != null && open.isEmpty()) {
      hook = null;
      try {
        Runtime.getRuntime().removeShutdownHook(made);
      } catch (IllegalStateException e) {
        LOG.debug("the last client is closed while the process ends", e);
      }
    }
  }

  synchronized List<Client> all() {
    return List.copyOf(open.values());
  }

  private synchronized boolean isOpen(Client client) {
    return open.containsKey(client.outbox());
  }

  /** Waits for the published events of all clients at once, and logs what is not delivered. */
  void finish(List<Client> clients) {
    long begun = System.nanoTime();
    List<CompletableFuture<Void>> flushes = clients.stream().map(OpenClients::flush).toList();
    for (int i = 0; i < clients.size(); i++) {
      finish(clients.get(i), flushes.get(i), begun + clients.get(i).timeout().toNanos());
    }
  }

  private static CompletableFuture<Void> flush(Client client) {
    return client.outbox().unsettled() == 0
        ? CompletableFuture.completedFuture(null)
        : client.barriers().ask(client.timeout(), client.clock().nanoTime());
  }

  private void finish(Client client, CompletableFuture<Void> flush, long deadline) {
    try {
      flush.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      // The application's own hook may still publish, and closes the client only then.
      while (isOpen(client) && client.outbox().unsettled() > 0) {
        flush(client).get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("{}: not everything was delivered at the end of the process", client.name(), e);
    }
    long left = client.outbox().unsettled();
    // close() tells its caller what is left.
    if (left > 0 && isOpen(client)) {
      LOG.error(
          "{}: the process ends without close(), and {} published events are lost, or may be"
              + " (waited for {})",
          client.name(),
          left,
          DurationText.of(client.timeout()));
    }
  }
}
