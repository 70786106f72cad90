package io.eventbus.link;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connections that other buses have opened to this one, bounded in number. Any thread may call
 * any method.
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class IncomingLinks {
  private final LinkOptions options;
  private final LinkIdentity identity;
  private final LinkSecurity security;
  private final LinkSetup setup;
  private final LinkCounters counters;
  private final SecureRandom random;
  private final Consumer<Link> ended;
  private final Function<String, @Nullable StreamAcceptor> streams;
  private final Function<String, @Nullable EventLoop> loops;
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
  private final AtomicInteger count = new AtomicInteger();
  private final Strangers strangers;
  private volatile boolean closed;

  /**
   * Creates an empty set of connections.
   *
   * @param ended is told of each link that has ended, on the thread that drove it
   * @param streams the acceptor of streams on a channel; null if links are opened on it
   * @param loops the event loop that is to drive a channel; null to leave it where it is
   */
  IncomingLinks(
      LinkOptions options,
      LinkIdentity identity,
      LinkSecurity security,
      LinkSetup setup,
      LinkCounters counters,
      SecureRandom random,
      Consumer<Link> ended,
      Function<String, @Nullable StreamAcceptor> streams,
      Function<String, @Nullable EventLoop> loops) {
    this.options = options;
    this.strangers = new Strangers(options.maxHandshakes());
    this.identity = identity;
    this.security = security;
    this.setup = setup;
    this.counters = counters;
    this.random = random;
    this.ended = ended;
    this.streams = streams;
    this.loops = loops;
  }

  void accept(SocketChannel channel) {
    InetSocketAddress remote = channel.remoteAddress();
    if (remote == null || count.incrementAndGet() > options.maxLinks() || closed) {
      if (remote != null) {
        count.decrementAndGet();
        counters.tooMany.increment();
      }
      channel.close();
      return;
    }
    channels.add(channel);
    channel
        .closeFuture()
        .addListener(
            gone -> {
              channels.remove(channel);
              count.decrementAndGet();
            });
    Channel evicted = strangers.add(channel, remote.getAddress());
    if (evicted != null) {
      counters.tooMany.increment();
      evicted.close();
    }
    setup.begin(channel, security.server());
    channel
        .pipeline()
        .addLast(
            new ServerHandshake(
                identity,
                security.key(),
                setup,
                counters,
                random,
                () -> strangers.remove(channel),
                opened -> channel.closeFuture().addListener(gone -> ended.accept(opened)),
                streams,
                loops));
  }

  void close() {
    closed = true;
    channels.forEach(Channel::close);
  }
}
