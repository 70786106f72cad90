package io.eventbus.client.tyrus;

import io.eventbus.client.tyrus.HostAddresses.Resolver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Name look-ups of all clients. The name service may not answer for minutes, and nothing interrupts
 * it then: so each name occupies one thread at most, however many clients ask for it, and nobody
 * waits for longer than its own deadline. Any thread.
 */
final class NameLookups {
  static final int MAX_THREADS = 16;

  /** Maximum number of names that wait for a thread. */
  static final int MAX_WAITING = 1_000;

  private final ThreadPoolExecutor threads;
  private final Map<Name, CompletableFuture<InetAddress[]>> underWay = new ConcurrentHashMap<>();

  private record Name(Resolver resolver, String host) {}

  NameLookups() {
    threads =
        new ThreadPoolExecutor(
            MAX_THREADS,
            MAX_THREADS,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> {
              Thread thread = new Thread(task, "eventbus-lookup");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** Looks up a name. */
  CompletableFuture<InetAddress[]> find(Resolver resolver, String host, long timeoutNanos) {
    if (isLiteral(host)) {
      CompletableFuture<InetAddress[]> found = new CompletableFuture<>();
      lookUp(new Name(resolver, host), found);
      return found;
    }
    return shared(resolver, host)
        .thenApply(all -> all)
        .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS)
        .exceptionally(
            failure -> {
              throw new CompletionException(explained(host, failure));
            });
  }

  private static Throwable explained(String host, Throwable failure) {
    if (failure instanceof TimeoutException) {
      return new SocketTimeoutException(
          "the name service has not told the address of " + host + " in the time for connecting");
    }
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? failure : cause;
  }

  private CompletableFuture<InetAddress[]> shared(Resolver resolver, String host) {
    Name name = new Name(resolver, host);
    CompletableFuture<InetAddress[]> mine = new CompletableFuture<>();
    CompletableFuture<InetAddress[]> before = underWay.putIfAbsent(name, mine);
    if (before != null) {
      return before;
    }
    try {
      threads.execute(() -> lookUp(name, mine));
    } catch (RejectedExecutionException e) {
      underWay.remove(name);
      mine.completeExceptionally(
          new IOException(
              MAX_WAITING + " names wait for the name service (expected: fewer); try again"));
    } catch (OutOfMemoryError e) {
      // No thread for it now; later there may be.
      underWay.remove(name);
      mine.completeExceptionally(new IOException("no thread for the name service; try again", e));
    }
    return mine;
  }

  private void lookUp(Name name, CompletableFuture<InetAddress[]> result) {
    try {
      InetAddress[] all = name.resolver().resolve(name.host());
      // Before the result is told: a caller that asks then needs a new look-up.
      underWay.remove(name);
      result.complete(all);
    } catch (IOException | RuntimeException | LinkageError e) {
      underWay.remove(name);
      result.completeExceptionally(e);
    }
  }

  /** Returns whether the host is an address, which needs no name service. */
  private static boolean isLiteral(String host) {
    return host.indexOf(':') >= 0 || host.chars().allMatch(c -> (c >= '0' && c <= '9') || c == '.');
  }

  void close() {
    threads.shutdown();
  }
}
