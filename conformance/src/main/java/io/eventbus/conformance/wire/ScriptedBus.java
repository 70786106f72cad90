package io.eventbus.conformance.wire;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A port that acts as a bus. */
public final class ScriptedBus implements AutoCloseable {
  private final String name;
  private final Channel port;

  private ScriptedBus(String name, EventLoopGroup loops, WireListener listener) {
    this.name = name;
    this.port =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpServerCodec(),
                            new HttpObjectAggregator(64 * 1024),
                            new KitUpgradeHandler(ScriptedBus.this, listener));
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  /** Returns the threads for any number of buses. */
  public static EventLoopGroup loops() {
    return new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  }

  /** Opens a port on loopback. */
  public static ScriptedBus open(String name, EventLoopGroup loops, WireListener listener) {
    return new ScriptedBus(name, loops, listener);
  }

  /** Returns its name. */
  public String name() {
    return name;
  }

  /** Returns the address for clients. */
  public String url() {
    return "ws://127.0.0.1:" + ((InetSocketAddress) port.localAddress()).getPort() + "/bus";
  }

  @Override
  public void close() {
    port.close().syncUninterruptibly();
  }
}
