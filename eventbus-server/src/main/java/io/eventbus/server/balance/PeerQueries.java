package io.eventbus.server.balance;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkService;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * How buses ask each other, as {@link LinkNode} does it: a simulation does it in another way. An
 * implementation must not block.
 */
interface PeerQueries {
  /** As {@link LinkNode#call}. */
  CompletableFuture<byte[]> call(
      InetSocketAddress address, String channel, int service, byte[] request, Duration deadline);

  /** Calls for balancing; never throws, since callers count what they have asked. */
  default CompletableFuture<byte[]> ask(
      InetSocketAddress address, int service, byte[] request, Duration deadline) {
    try {
      return call(address, BalanceMessages.CHANNEL, service, request, deadline);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** As {@link LinkNode#offer}. */
  void offer(int number, LinkService service);

  /** As {@link LinkNode#withdraw}. */
  void withdraw(int number);

  /** Returns the real one; null for a bus that serves alone. */
  static @Nullable PeerQueries of(@Nullable LinkNode node) {
    if (node == null) {
      return null;
    }
    return new PeerQueries() {
      @Override
      public CompletableFuture<byte[]> call(
          InetSocketAddress address,
          String channel,
          int service,
          byte[] request,
          Duration deadline) {
        return node.call(address, channel, service, request, deadline);
      }

      @Override
      public void offer(int number, LinkService service) {
        node.offer(number, service);
      }

      @Override
      public void withdraw(int number) {
        node.withdraw(number);
      }
    };
  }
}
