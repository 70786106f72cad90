package io.eventbus.link;

import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Look-ups of the addresses of other buses on threads of its own: a slow name server must not delay
 * the threads that move bytes. Any thread may call any method.
 */
final class NameLookup implements AutoCloseable {
  private static final int THREADS = 4;
  private static final int MAX_WAITING = 1_024;
  private static final int MAX_ADDRESSES = 16;

  private final ThreadPoolExecutor threads;

  NameLookup(String bus) {
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            new DefaultThreadFactory("link-names-" + bus, true));
    threads.allowCoreThreadTimeOut(true);
  }

  /** Finds at least one address; fails with an {@link UnknownHostException}, also when busy. */
  CompletableFuture<List<InetSocketAddress>> find(InetSocketAddress address) {
    if (!address.isUnresolved()) {
      return CompletableFuture.completedFuture(List.of(address));
    }
    String host = address.getHostString();
    CompletableFuture<List<InetSocketAddress>> found = new CompletableFuture<>();
    if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
      // No name server has to be asked.
      look(address, found);
      return found;
    }
    try {
      threads.execute(() -> look(address, found));
    } catch (RejectedExecutionException e) {
      found.completeExceptionally(
          new UnknownHostException(host + ": too many names are being looked up"));
    }
    return found;
  }

  private static void look(
      InetSocketAddress address, CompletableFuture<List<InetSocketAddress>> found) {
    try {
      List<InetSocketAddress> addresses = new ArrayList<>();
      for (InetAddress each : InetAddress.getAllByName(address.getHostString())) {
        if (addresses.size() < MAX_ADDRESSES) {
          addresses.add(new InetSocketAddress(each, address.getPort()));
        }
      }
      found.complete(addresses);
    } catch (Throwable e) {
      // Also an impossible error: a lookup without an end would keep the address out of reach for
      // good.
      found.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
