package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections that are handed over to other loops after the handshake. */
@Timeout(240)
class LinkStreamTest {
  private static final byte[] SECRET = "a secret of 24 bytes ...".getBytes(StandardCharsets.UTF_8);

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private final EventLoop here = loops.next();
  private final EventLoop there = loops.next();
  private final List<LinkNode> nodes = new ArrayList<>();
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private final Path root;

  LinkStreamTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws InterruptedException {
    nodes.forEach(LinkNode::close);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(5, TimeUnit.SECONDS);
  }

  private LinkNode node(String bus, LinkSecurity security) {
    LinkNode node = new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(bus, ""), security);
    nodes.add(node);
    return node;
  }

  private InetSocketAddress listen(LinkNode node) throws Exception {
    acceptEcho(node);
    return node.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private void acceptEcho(LinkNode node) {
    node.acceptStreams(
        "echo",
        new StreamAcceptor() {
          @Override
          public EventLoop loop(LinkPeer peer) {
            return there;
          }

          @Override
          public ChannelHandler handler(LinkPeer peer) {
            return new Echo(peer);
          }
        });
  }

  /** Handler that sends everything back, and says whether it runs where it should. */
  // The result of a write shows in what the other side receives.
  @SuppressWarnings("FutureReturnValueIgnored")
  private final class Echo extends ChannelInboundHandlerAdapter {
    private final LinkPeer peer;

    Echo(LinkPeer peer) {
      this.peer = peer;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      if (!there.inEventLoop()) {
        heard.add("the wrong loop");
      }
      byte[] greeting = (peer.bus() + " " + peer.channel() + ";").getBytes(StandardCharsets.UTF_8);
      ctx.writeAndFlush(Unpooled.wrappedBuffer(greeting));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      if (!there.inEventLoop()) {
        heard.add("the wrong loop");
      }
      ctx.writeAndFlush(message);
    }
  }

  /** Handler that sends something, and records what comes back. */
  // The result of a write shows in what the other side receives.
  @SuppressWarnings("FutureReturnValueIgnored")
  private final class Caller extends ChannelInboundHandlerAdapter {
    private final StringBuilder text = new StringBuilder();

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      ctx.writeAndFlush(Unpooled.copiedBuffer("hello;", StandardCharsets.UTF_8));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf in = (ByteBuf) message;
      text.append(in.toString(StandardCharsets.UTF_8));
      in.release();
      if (text.toString().endsWith("hello;")) {
        heard.add((here.inEventLoop() ? "" : "wrong loop ") + text);
      }
    }
  }

  private void speaks(LinkNode a, LinkNode b) throws Exception {
    LinkPeer who =
        b.openStream(listen(a), "echo.3", here, peer -> new Caller()).get(60, TimeUnit.SECONDS);
    assertThat(who.bus()).isEqualTo("a");
    assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo("b echo.3;hello;");
    assertThat(heard).isEmpty();
  }

  @Test
  void bothSidesRunOnTheLoopsThatTheyChose() throws Exception {
    speaks(node("a", LinkSecurity.none()), node("b", LinkSecurity.none()));
  }

  @Test
  void withTls() throws Exception {
    TestAuthority authority = new TestAuthority(root);
    speaks(
        node("a", authority.of("a", authority, LinkSecurity.none())),
        node("b", authority.of("b", authority, LinkSecurity.none())));
  }

  /** Refuses streams. As a link it would get heartbeats, which its handler takes for garbage. */
  @Test
  void aBusThatTakesNoStreamsYetRefusesThem() throws Exception {
    LinkNode a = node("a", LinkSecurity.none());
    LinkNode b = node("b", LinkSecurity.none());
    a.reserveStreams(Set.of("echo"));
    InetSocketAddress address =
        a.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    assertThatThrownBy(
            () ->
                b.openStream(address, "echo.3", here, peer -> new Caller())
                    .get(60, TimeUnit.SECONDS))
        .hasRootCauseInstanceOf(LinkException.class)
        .hasMessageContaining("accepts no streams on channel echo.3 yet");
    assertThat(b.peer(address, "other.1").get(60, TimeUnit.SECONDS).bus()).isEqualTo("a");
    acceptEcho(a);
    b.openStream(address, "echo.3", here, peer -> new Caller()).get(60, TimeUnit.SECONDS);
    assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo("b echo.3;hello;");
  }

  @Test
  void aStrangerGetsNoStream() throws Exception {
    LinkNode a = node("a", LinkSecurity.sharedSecret(SECRET));
    LinkNode b = node("b", LinkSecurity.none());
    InetSocketAddress address = listen(a);
    assertThatThrownBy(
            () ->
                b.openStream(address, "echo.0", here, peer -> new Caller())
                    .get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("the proof of the shared secret is wrong");
    assertThat(heard).isEmpty();
    assertThat(a.strangers()).isEqualTo(1);
  }
}
