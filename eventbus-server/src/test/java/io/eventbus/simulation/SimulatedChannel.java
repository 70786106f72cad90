package io.eventbus.simulation;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelId;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** End of a simulated connection, as Netty sees it: flushed bytes go to the network. */
final class SimulatedChannel extends AbstractChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
  private static final FixedRecvByteBufAllocator READS = new FixedRecvByteBufAllocator(64 * 1024);

  /** Id that is a number, because the real ones are large and there are hundreds of thousands. */
  private record Id(long number) implements ChannelId {
    private static final long serialVersionUID = 1L;

    @Override
    public String asShortText() {
      return Long.toString(number);
    }

    @Override
    public String asLongText() {
      return asShortText();
    }

    @Override
    public int compareTo(ChannelId other) {
      return asLongText().compareTo(other.asLongText());
    }
  }

  private final ChannelConfig config = new DefaultChannelConfig(this, READS) {};
  private final Network.Way out;
  private @Nullable Deque<byte[]> unread;
  private boolean open;

  SimulatedChannel(long number, Network.Way out) {
    super(null, new Id(number));
    this.out = out;
  }

  /** Opens this end, on its loop. */
  void open(SimulatedLoop loop, ByteBufAllocator allocator, ChannelHandler handler) {
    open = true;
    config.setAllocator(allocator);
    var unused = loop.register(this);
    pipeline().addLast(handler);
  }

  /** Receives bytes, on its loop. */
  void receive(byte[] bytes) {
    if (unread != null || !config.isAutoRead()) {
      if (unread == null) {
        unread = new ArrayDeque<>();
      }
      unread.add(bytes);
      return;
    }
    read(bytes);
  }

  private void read(byte[] bytes) {
    pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes));
    pipeline().fireChannelReadComplete();
  }

  /** Ends without a word, whatever is on its way. */
  void end() {
    ((SimulatedLoop) eventLoop()).perform(this::closedByOther);
  }

  /** Closes, because the other end was closed, or this one reset; on its loop. */
  void closedByOther() {
    if (open) {
      unsafe().close(unsafe().voidPromise());
    }
  }

  @Override
  protected void doBeginRead() {
    if (unread != null) {
      eventLoop().execute(this::readOn);
    }
  }

  private void readOn() {
    while (unread != null && open && config.isAutoRead()) {
      byte[] next = unread.remove();
      if (unread.isEmpty()) {
        unread = null;
      }
      read(next);
    }
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer in) {
    int size = (int) in.totalPendingWriteBytes();
    ByteBuf all = Unpooled.buffer(Math.max(16, size));
    for (Object next = in.current(); next != null; next = in.current()) {
      ByteBuf bytes = (ByteBuf) next;
      all.writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
      in.remove();
    }
    byte[] sent = new byte[all.readableBytes()];
    all.readBytes(sent);
    out.send(sent);
  }

  @Override
  protected void doClose() {
    if (open) {
      open = false;
      out.close();
    }
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isActive() {
    return open;
  }

  @Override
  public ChannelConfig config() {
    return config;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return loop instanceof SimulatedLoop;
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return null;
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return null;
  }

  @Override
  protected void doBind(SocketAddress address) {
    throw new UnsupportedOperationException("it is opened by the network");
  }

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new AbstractUnsafe() {
      @Override
      public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
        throw new UnsupportedOperationException("it is opened by the network");
      }
    };
  }
}
