package io.eventbus.link;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Links that this bus has opened to others: one for each address and channel. A link that broke is
 * opened again when it is next asked for. Any thread may call any method.
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class OutgoingLinks {
  private record Target(InetSocketAddress address, String channel) {}

  private final LinkOptions options;
  private final LinkIdentity identity;
  private final LinkSecurity security;
  private final LinkSetup setup;
  private final Function<String, EventLoopGroup> loopsOf;
  private final EventLoopGroup loops;
  private final Class<? extends Channel> socket;
  private final SecureRandom random;
  private final NameLookup names;
  private final Map<Target, CompletableFuture<Link>> links = new ConcurrentHashMap<>();
  private volatile boolean closed;

  OutgoingLinks(
      LinkOptions options,
      LinkIdentity identity,
      LinkSecurity security,
      LinkSetup setup,
      Function<String, EventLoopGroup> loopsOf,
      EventLoopGroup loops,
      Class<? extends Channel> socket,
      SecureRandom random) {
    this.options = options;
    this.identity = identity;
    this.security = security;
    this.setup = setup;
    this.loopsOf = loopsOf;
    this.loops = loops;
    this.socket = socket;
    this.random = random;
    this.names = new NameLookup(identity.bus());
  }

  /** Returns a link that is open, or is being opened. */
  CompletableFuture<Link> find(InetSocketAddress address, String channel) {
    Target target = new Target(address, channel);
    CompletableFuture<Link> known = links.get(target);
    if (known != null && isUsable(known)) {
      return known;
    }
    CompletableFuture<Link> fresh = new CompletableFuture<>();
    CompletableFuture<Link> chosen =
        links.compute(target, (t, now) -> now != null && isUsable(now) ? now : fresh);
    if (chosen == fresh) {
      connect(target, fresh);
    }
    return chosen;
  }

  private static boolean isUsable(CompletableFuture<Link> link) {
    return !link.isDone() || (!link.isCompletedExceptionally() && link.join().isOpen());
  }

  void disconnect(InetSocketAddress address) {
    links.forEach(
        (target, link) -> {
          if (target.address().equals(address) && links.remove(target, link)) {
            link.thenAccept(Link::close);
          }
        });
  }

  /** Checks whether every address refuses connections; an unknown name does not. */
  CompletableFuture<Boolean> isDeserted(InetSocketAddress address, Duration limit) {
    return names
        .find(address)
        .thenCompose(
            addresses ->
                closed
                    ? CompletableFuture.completedFuture(false)
                    : PortProbe.refusesAll(addresses, socket, loops, limit))
        .exceptionally(error -> false);
  }

  void close() {
    closed = true;
    links.values().forEach(link -> link.thenAccept(Link::close));
    names.close();
  }

  private void connect(Target target, CompletableFuture<Link> opened) {
    connect(
        target.address(), target.channel(), loopsOf.apply(target.channel()), setup::open, opened);
  }

  /** Opens a connection of its own, on a loop of the caller's. */
  CompletableFuture<LinkPeer> stream(
      InetSocketAddress address,
      String channel,
      EventLoop loop,
      Function<LinkPeer, ChannelHandler> handler) {
    CompletableFuture<LinkPeer> opened = new CompletableFuture<>();
    connect(
        address,
        channel,
        loop,
        (ctx, handshake, peer) -> {
          // First the handler, so that nothing that is left of a read goes by.
          ctx.pipeline().addLast(handler.apply(peer));
          setup.clear(ctx, handshake);
          return peer;
        },
        opened);
    return opened;
  }

  private <T> void connect(
      InetSocketAddress address,
      String channel,
      EventLoopGroup group,
      ClientHandshake.Next<T> next,
      CompletableFuture<T> opened) {
    if (closed) {
      opened.completeExceptionally(new LinkException("this bus closes", LinkRefusal.BUSY, false));
      return;
    }
    names
        .find(address)
        .whenComplete(
            (addresses, error) -> {
              if (addresses == null) {
                opened.completeExceptionally(
                    new LinkException("no address of " + address.getHostString(), error));
              } else {
                connectOrFail(addresses, channel, group, next, null, opened);
              }
            });
  }

  /** Returns the later of two failures, or the earlier one where that alone is no refusal. */
  static LinkException unlessRefused(@Nullable LinkException before, LinkException now) {
    return before == null || PortProbe.isRefusal(before) || !PortProbe.isRefusal(now)
        ? now
        : before;
  }

  private <T> void connectOrFail(
      List<InetSocketAddress> addresses,
      String channel,
      EventLoopGroup group,
      ClientHandshake.Next<T> next,
      @Nullable LinkException before,
      CompletableFuture<T> opened) {
    try {
      connect(addresses, channel, group, next, before, opened);
    } catch (RuntimeException | Error e) {
      // All callers would wait for a link that stayed "being opened", for ever.
      opened.completeExceptionally(new LinkException("cannot connect to " + addresses, e));
    }
  }

  /**
   * Tries one address after the other; there is at least one. Fails with a refusal only where each
   * address refuses.
   *
   * @param before the failure of the addresses before
   */
  private <T> void connect(
      List<InetSocketAddress> addresses,
      String channel,
      EventLoopGroup group,
      ClientHandshake.Next<T> next,
      @Nullable LinkException before,
      CompletableFuture<T> opened) {
    InetSocketAddress address = addresses.get(0);
    new Bootstrap()
        .group(group)
        .channel(socket)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) options.handshakeDeadline().toMillis())
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel made) {
                setup.begin(made, security.client());
                made.pipeline()
                    .addLast(
                        new ClientHandshake<>(
                            identity.asPeer(channel), security.key(), next, random, opened));
              }
            })
        .connect(address)
        .addListener(
            connected -> {
              if (connected.isSuccess()) {
                return;
              }
              LinkException error =
                  unlessRefused(
                      before, new LinkException("cannot connect to " + address, connected.cause()));
              if (addresses.size() > 1 && !closed) {
                connectOrFail(
                    addresses.subList(1, addresses.size()), channel, group, next, error, opened);
              } else {
                opened.completeExceptionally(error);
              }
            });
  }
}
