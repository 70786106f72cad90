package io.eventbus.server.transport;

import io.eventbus.server.config.ListenConfig;
import io.eventbus.server.config.TransportType;
import io.eventbus.server.delivery.Loops;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Threads that own connections. */
public final class EventLoops implements Loops {
  /** Sockets that are served before tasks have their turn; with NIO all that are ready. */
  private static final int MAX_READY = 64;

  private final MultiThreadIoEventLoopGroup group;
  private final Class<? extends ServerChannel> serverChannel;
  private final List<EventLoop> loops = new ArrayList<>();
  private volatile IntConsumer handOver = loop -> {};

  /**
   * Starts the loops.
   *
   * @throws IllegalStateException if epoll is demanded and cannot be had
   */
  public EventLoops(ListenConfig config) {
    boolean epoll = usesEpoll(config.transport());
    IoHandlerFactory io =
        epoll
            ? EpollIoHandler.newFactory(MAX_READY, DefaultSelectStrategyFactory.INSTANCE)
            : NioIoHandler.newFactory();
    serverChannel = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    int count =
        config.eventLoops() == 0 ? Runtime.getRuntime().availableProcessors() : config.eventLoops();
    group = new Group(count, io);
    for (int i = 0; i < count; i++) {
      loops.add(group.next());
    }
  }

  private static final class Group extends MultiThreadIoEventLoopGroup {
    Group(int count, IoHandlerFactory io) {
      super(count, new DefaultThreadFactory("eventbus-loop", true), io);
    }

    @Override
    protected IoEventLoop newChild(
        Executor executor, IoHandlerFactory ioHandlerFactory, Object... args) {
      return new FairEventLoop(this, executor, ioHandlerFactory, System::nanoTime);
    }
  }

  /**
   * Returns whether a setting means epoll.
   *
   * @throws IllegalStateException if epoll is demanded and cannot be had
   */
  public static boolean usesEpoll(TransportType type) {
    return switch (type) {
      case NIO -> false;
      case AUTO -> Epoll.isAvailable();
      case EPOLL -> {
        if (!Epoll.isAvailable()) {
          throw new IllegalStateException(
              "listen.transport: EPOLL cannot be had here: " + Epoll.unavailabilityCause());
        }
        yield true;
      }
    };
  }

  /** Sets what {@link #handOver} does. */
  void onHandOver(IntConsumer action) {
    handOver = action;
  }

  @Override
  public int count() {
    return loops.size();
  }

  @Override
  public Executor executor(int loop) {
    return loops.get(loop);
  }

  @Override
  public void handOver(int loop) {
    handOver.accept(loop);
  }

  /** Returns one of the loops. */
  public EventLoop loop(int number) {
    return loops.get(number);
  }

  MultiThreadIoEventLoopGroup group() {
    return group;
  }

  Class<? extends ServerChannel> serverChannel() {
    return serverChannel;
  }

  boolean isEpoll() {
    return serverChannel == EpollServerSocketChannel.class;
  }

  /** Returns the name of the transport. */
  public String transportName() {
    return isEpoll() ? "epoll" : "nio";
  }

  /** Ends the threads; waits at most a second. */
  void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
