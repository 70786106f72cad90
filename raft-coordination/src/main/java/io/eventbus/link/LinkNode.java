package io.eventbus.link;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint of all links of one bus.
 *
 * <p>It accepts links from others on its port, and opens links to others when they are called; a
 * link that breaks is opened again at the next call. Calls on one channel share a link and may be
 * answered in any order. Any thread may call any method; stages are completed on the threads that
 * move bytes, so code that depends on them must not block.
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
public final class LinkNode implements AutoCloseable {
  private final LinkIdentity identity;
  private final EventLoopGroup loops;
  private final LinkCounters counters = new LinkCounters();
  private final Map<Integer, LinkService> services = new ConcurrentHashMap<>();
  private final Map<String, StreamAcceptor> streams = new ConcurrentHashMap<>();
  private final LinkTransport transport;
  private final List<Consumer<LinkPeer>> watchers = new CopyOnWriteArrayList<>();
  private final IncomingLinks incoming;
  private final OutgoingLinks outgoing;
  private final List<DedicatedLoop> dedicated = new CopyOnWriteArrayList<>();
  private volatile @Nullable Channel listening;
  private volatile boolean closed;

  /**
   * Creates a node; it opens nothing yet.
   *
   * @param options its bounds
   * @param identity the identity of this bus
   * @param security how buses authenticate each other
   */
  public LinkNode(LinkOptions options, LinkIdentity identity, LinkSecurity security) {
    this(options, identity, security, LinkTransport.nio());
  }

  /**
   * Creates a node whose streams are to be handed to event loops of a certain kind.
   *
   * @param options its bounds
   * @param identity the identity of this bus
   * @param security how buses authenticate each other
   * @param transport drives the sockets
   */
  public LinkNode(
      LinkOptions options, LinkIdentity identity, LinkSecurity security, LinkTransport transport) {
    SecureRandom random = new SecureRandom();
    this.transport = transport;
    this.identity = identity;
    LinkSetup setup = new LinkSetup(options, services, counters);
    this.loops =
        new MultiThreadIoEventLoopGroup(
            options.threads(),
            new DefaultThreadFactory("link-" + identity.bus(), true),
            transport.io());
    this.outgoing =
        new OutgoingLinks(
            options, identity, security, setup, this::loops, loops, transport.client(), random);
    this.incoming =
        new IncomingLinks(
            options,
            identity,
            security,
            setup,
            counters,
            random,
            link -> watchers.forEach(watcher -> watcher.accept(link.peer())),
            this::stream,
            this::dedicatedLoop);
  }

  /**
   * Offers a service to others, in place of the one with the same number.
   *
   * @param number its number, see the caller's side in {@link #call}
   * @param service the service
   */
  public void offer(int number, LinkService service) {
    services.put(number, service);
  }

  /**
   * Adds a watcher that is told of each end of a link that another bus has opened.
   *
   * @param watcher is called on a thread that moves the bytes of links and must not block; with the
   *     other bus as it had introduced itself
   */
  public void watchEnds(Consumer<LinkPeer> watcher) {
    watchers.add(watcher);
  }

  /**
   * Removes a watcher.
   *
   * @param watcher as given to {@link #watchEnds}
   */
  public void unwatchEnds(Consumer<LinkPeer> watcher) {
    watchers.remove(watcher);
  }

  /**
   * Has the links of some channels, in both directions, driven by one thread that drives nothing
   * else: those that are opened from now on. Their services are called, and their calls answered,
   * on that thread; they may take locks for a short while, and must not block otherwise. A call
   * that finds no link open may fail on another one.
   *
   * @param kinds the parts of the channels before their first '.'
   * @return the loop; the same one at every call with the same kinds
   * @throws IllegalStateException if another loop has one of them, or the node is closed
   */
  public synchronized DedicatedLoop useDedicatedLoop(Set<String> kinds) {
    if (closed) {
      throw new IllegalStateException("the links of bus " + identity.bus() + " are closed");
    }
    for (DedicatedLoop known : dedicated) {
      if (known.kinds().equals(kinds)) {
        return known;
      }
      if (!Collections.disjoint(known.kinds(), kinds)) {
        throw new IllegalStateException(
            "channels with a dedicated loop: "
                + kinds
                + " (there is one for "
                + known.kinds()
                + ")");
      }
    }
    DedicatedLoop loop = new DedicatedLoop(kinds, identity.bus(), transport);
    dedicated.add(loop);
    return loop;
  }

  private @Nullable EventLoop dedicatedLoop(String channel) {
    for (DedicatedLoop known : dedicated) {
      if (known.accepts(channel)) {
        return known.loop();
      }
    }
    return null;
  }

  private EventLoopGroup loops(String channel) {
    EventLoop own = dedicatedLoop(channel);
    return own == null ? loops : own;
  }

  /**
   * Withdraws a service.
   *
   * @param number its number
   */
  public void withdraw(int number) {
    services.remove(number);
  }

  /**
   * Returns the identity of this bus.
   *
   * @return the identity
   */
  public LinkIdentity identity() {
    return identity;
  }

  /**
   * Begins to listen; waits until the port is bound.
   *
   * @param address the local address; port 0 for any free one
   * @return the address that is bound
   * @throws IOException if the address cannot be bound
   */
  public InetSocketAddress listen(InetSocketAddress address) throws IOException {
    var bound =
        new ServerBootstrap()
            .group(loops)
            .channel(transport.server())
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    incoming.accept(channel);
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + address + ": " + bound.cause(), bound.cause());
    }
    listening = bound.channel();
    return (InetSocketAddress) bound.channel().localAddress();
  }

  /**
   * Calls a service of another bus.
   *
   * @param address where the other bus listens; an unresolved one is looked up whenever a link is
   *     opened, on a thread that may wait, and each address that it has is tried
   * @param channel purpose of the link: at most 64 letters, digits, '.', '_' and '-'. Calls that
   *     must not wait behind each other's bytes use different channels
   * @param service the number under which the other bus offers the service
   * @param request the request
   * @param deadline the longest time to wait, opening the link included
   * @return a future that completes by the deadline with the answer, a {@link LinkException} or a
   *     {@link LinkServiceException}; nothing is ever thrown
   */
  public CompletableFuture<byte[]> call(
      InetSocketAddress address, String channel, int service, byte[] request, Duration deadline) {
    try {
      return callOrThrow(address, channel, service, request, deadline);
    } catch (RuntimeException | Error e) {
      // Callers count their open calls: an error that went past the future would leave the count
      // up.
      return CompletableFuture.failedFuture(new LinkException("to " + address, e));
    }
  }

  private CompletableFuture<byte[]> callOrThrow(
      InetSocketAddress address, String channel, int service, byte[] request, Duration deadline) {
    CompletableFuture<Link> link = outgoing.find(address, channel);
    Link open = link.isDone() && !link.isCompletedExceptionally() ? link.join() : null;
    if (open != null) {
      return open.call(service, request, deadline);
    }
    long start = System.nanoTime();
    CompletableFuture<byte[]> answer =
        link.thenCompose(
            opened -> {
              Duration left = deadline.minusNanos(System.nanoTime() - start);
              return left.isNegative() || left.isZero()
                  ? CompletableFuture.failedFuture(
                      new LinkException("no link within " + deadline, null, false))
                  : opened.call(service, request, left);
            });
    var timer =
        loops.schedule(
            () ->
                answer.completeExceptionally(
                    new LinkException(
                        "no answer of " + address + " within " + deadline, null, link.isDone())),
            deadline.toNanos(),
            TimeUnit.NANOSECONDS);
    return answer.whenComplete((bytes, error) -> timer.cancel(false));
  }

  /**
   * Opens a stream: a connection of its own, with the handshake of a link, whose bytes are the
   * caller's from then on. It has no heartbeat.
   *
   * @param address as for {@link #call}
   * @param channel as for {@link #call}; the part before its first '.' tells the other bus the kind
   *     of stream
   * @param loop the event loop that is to own it, of the node's {@link LinkTransport}
   * @param handler creates the handler of its bytes, once the other bus is authenticated; called on
   *     that loop, must not block
   * @return a future with the other bus, or a {@link LinkException}
   */
  public CompletableFuture<LinkPeer> openStream(
      InetSocketAddress address,
      String channel,
      EventLoop loop,
      Function<LinkPeer, ChannelHandler> handler) {
    return outgoing.stream(address, channel, loop, handler);
  }

  /**
   * Accepts streams of a kind that other buses open, in place of the acceptor before.
   *
   * @param kind the part of the channel before its first '.'
   * @param acceptor accepts them
   */
  public void acceptStreams(String kind, StreamAcceptor acceptor) {
    streams.put(kind, acceptor);
  }

  /**
   * Reserves kinds of streams that will be accepted later. Until {@link #acceptStreams}, other
   * buses that open one are refused with {@link LinkRefusal#BUSY}, and may try again.
   *
   * @param kinds the parts of the channels before their first '.'; to be set before {@link #listen}
   */
  public void reserveStreams(Set<String> kinds) {
    kinds.forEach(kind -> streams.putIfAbsent(kind, ReservedStreams.NOT_YET));
  }

  private @Nullable StreamAcceptor stream(String channel) {
    String kind = DedicatedLoop.kind(channel);
    return kind.equals(channel) ? null : streams.get(kind);
  }

  /**
   * Opens a link, or uses the one that is open, and returns the bus there.
   *
   * @param address where the other bus listens
   * @param channel as for {@link #call}
   * @return a future with the other bus as it has introduced itself, or a {@link LinkException}
   */
  public CompletableFuture<LinkPeer> peer(InetSocketAddress address, String channel) {
    return outgoing.find(address, channel).thenApply(Link::peer);
  }

  /**
   * Checks whether no process listens at an address, with a connection of its own that is not kept.
   *
   * @param address the address, as for {@link #call}
   * @param limit the longest time to wait for each address of a name
   * @return a future with true if every address refuses connections; with false if one of them does
   *     not, does not answer, or there is none
   */
  public CompletableFuture<Boolean> isDeserted(InetSocketAddress address, Duration limit) {
    return outgoing.isDeserted(address, limit);
  }

  /**
   * Closes the links to an address, so that the next call opens new ones.
   *
   * @param address the address
   */
  public void disconnect(InetSocketAddress address) {
    outgoing.disconnect(address);
  }

  /**
   * Returns the number of connections that failed to prove that they belong here.
   *
   * @return the count since the start
   */
  public long strangers() {
    return counters.strangers.sum();
  }

  /**
   * Returns the number of connections that were closed because there were too many.
   *
   * @return the count since the start
   */
  public long closedForNumber() {
    return counters.tooMany.sum();
  }

  /** Closes all links and the port, and waits for that, at most 2 seconds. */
  @Override
  public void close() {
    closed = true;
    Channel port = listening;
    if (port != null) {
      port.close();
    }
    outgoing.close();
    incoming.close();
    List<DedicatedLoop> own;
    synchronized (this) {
      own = List.copyOf(dedicated);
    }
    own.forEach(DedicatedLoop::beginEnd);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    own.forEach(DedicatedLoop::awaitEnd);
  }
}
