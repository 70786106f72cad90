package io.eventbus.server.balance;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkService;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls between buses, as {@link LinkNode} makes them; a simulation makes them in another way. An
 * implementation must not block.
 */
interface PeerQueries {
  /** Calls as {@link LinkNode#call}. */
  CompletableFuture<byte[]> call(
      InetSocketAddress address, String channel, int service, byte[] request, Duration deadline);

  /** Calls a peer for balancing; never throws, since callers count their calls. */
  default CompletableFuture<byte[]> ask(
      InetSocketAddress address, int service, byte[] request, Duration deadline) {
    try {
      return call(address, BalanceMessages.CHANNEL, service, request, deadline);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Offers a service as {@link LinkNode#offer}. */
  void offer(int number, LinkService service);

  /** Withdraws a service as {@link LinkNode#withdraw}. */
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
