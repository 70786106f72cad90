package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.LaneHello;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection of a lane at the bus that has accepted it; {@link LaneFrameHandlers} handles its
 * frames. Confined to its loop.
 */
// A failed write closes the channel, which is handled: single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
public final class LaneReceiver extends LaneDecoder implements StreamEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(LaneReceiver.class);

  private final LaneLoop loop;
  private final LinkPeer linkPeer;
  private final Runnable retry = this::retry;
  private @Nullable ChannelHandlerContext context;
  private final Keepalive keepalive;
  private final ForwardHandler forwards;
  private final ForwardHold hold = new ForwardHold();
  private @Nullable IncomingLane lane;
  private boolean ending;

  /** Creates the handler of a connection. */
  public LaneReceiver(LaneLoop loop, LinkPeer linkPeer, ForwardHandler forwards) {
    super(loop.maxFrameBytes());
    this.loop = loop;
    this.linkPeer = linkPeer;
    this.forwards = forwards;
    this.keepalive = new Keepalive(loop.config(), loop.nanoTime());
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
    keepalive.received(loop.nanoTime());
    if (!loop.add(this)) {
      close();
      return;
    }
    Channel channel = ctx.channel();
    channel
        .config()
        .setRecvByteBufAllocator(
            new AdaptiveRecvByteBufAllocator(2 * 1024, 64 * 1024, 256 * 1024)
                .maxMessagesPerRead(2));
  }

  public LinkPeer linkPeer() {
    return linkPeer;
  }

  private Channel channel() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("the lane is not open");
    }
    return ctx.channel();
  }

  public void write(byte[] frame) {
    channel().write(Unpooled.wrappedBuffer(frame), channel().voidPromise());
  }

  public void flush() {
    keepalive.sent(loop.nanoTime());
    channel().flush();
  }

  public boolean isOpen() {
    return channel().isActive();
  }

  @Override
  protected boolean onFrame(ByteBuffer in, int typeCode, int from, int to) {
    if (ending) {
      return true;
    }
    IncomingLane known = lane;
    if (known == null) {
      if (typeCode != PeerFrames.LANE_HELLO) {
        throw new CorruptedFrameException("typeCode: " + typeCode + " (expected: LaneHello)");
      }
      onHello(PeerFrames.laneHello(in, from, to));
      return true;
    }
    if (!known.isBy(this)) {
      // Its kept bytes come again on the connection that has replaced it.
      return true;
    }
    return LaneFrameHandlers.OF_RECEIVER.handle(typeCode, this, in, from, to);
  }

  private IncomingLane lane() {
    IncomingLane known = lane;
    if (known == null) {
      throw new IllegalStateException("the other bus has not said which lane it is");
    }
    return known;
  }

  boolean forward(ByteBuffer in, int from, int to) {
    return forwards.take(lane(), in, from, to, hold, retry);
  }

  boolean interest(ByteBuffer in, int from, int to) {
    InterestTurns turns = loop.interestTurns();
    long began = loop.nanoTime();
    if (!turns.mayTake(began)) {
      var unused = loop.schedule(retry, InterestTurns.PAUSE_MILLIS);
      return false;
    }
    Interest interest = PeerFrames.interest(in, from, to);
    firstLane().peer().onInterest(this, interest);
    turns.spent(began, loop.nanoTime());
    return true;
  }

  void onSync(long round) {
    if (round == 0) {
      lane().settle();
    } else {
      firstLane().peer().onSync(this, round);
    }
  }

  void onGoodbye() {
    lane().peer().onGoodbye(linkPeer.instance());
    close();
  }

  private IncomingLane firstLane() {
    IncomingLane known = lane();
    if (known.number() != 0) {
      throw new CorruptedFrameException("a frame for lane 0 on lane " + known.number());
    }
    return known;
  }

  private void onHello(LaneHello hello) {
    int number = LaneLoop.laneOf(linkPeer);
    if (hello.getLane() != number || hello.getNext() < 1) {
      throw new CorruptedFrameException(
          "lane " + hello.getLane() + ", next " + hello.getNext() + " on lane " + number);
    }
    Peer peer = loop.peers().of(linkPeer);
    if (peer == null) {
      throw new CorruptedFrameException("a lane to itself, or too many buses");
    }
    IncomingLane entered = peer.incoming(number, loop);
    lane = entered;
    LOG.debug("Bus {} has opened its lane {}", linkPeer.bus(), number);
    entered.onHello(this, linkPeer.instance(), hello);
    if (number == 0) {
      peer.onOpened(this, hello.getNumber());
    }
  }

  @Override
  protected void onReadEnd() {
    keepalive.received(loop.nanoTime());
    IncomingLane known = lane;
    if (known != null) {
      known.onReadEnd();
    }
  }

  /** Retries on the loop; any thread: the lane may have got what it waited for. */
  private void retry() {
    loop.execute(
        () -> {
          ChannelHandlerContext ctx = context;
          if (ctx == null) {
            return;
          }
          try {
            resume(ctx);
          } catch (Exception e) {
            exceptionCaught(ctx, e);
          }
        });
  }

  @Override
  public Keepalive keepalive() {
    return keepalive;
  }

  void onTick(long now) {
    if (isPaused()) {
      // Nothing is read, so no keepalive can arrive.
      keepalive.received(now);
      forwards.onTick(hold, now);
    }
    if (keepalive.isSilent(now)) {
      LOG.info("The lane of bus {} is silent", linkPeer.bus());
      close();
    }
  }

  /** Returns whether full subscribers keep it from being read. */
  boolean isHeld() {
    return hold.isOn();
  }

  @Override
  public void sendKeepalive() {
    write(PeerFrames.encode(PeerFrames.ALIVE));
    flush();
  }

  /** Says goodbye because this bus ends, and reads until the peer has closed the connection. */
  ChannelFuture end() {
    ending = true;
    write(PeerFrames.encode(PeerFrames.GOODBYE));
    flush();
    return channel().closeFuture();
  }

  @Override
  public void close() {
    channel().close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    loop.remove(this);
    forwards.release(hold);
    IncomingLane known = lane;
    try {
      if (known != null && !isPaused()) {
        // Frames before the end still count.
        super.channelInactive(ctx);
      }
    } finally {
      if (known != null) {
        known.onClosed(this);
        if (known.number() == 0) {
          known.peer().onGone(this);
        }
      }
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (cause instanceof java.io.IOException) {
      LOG.debug("The lane of bus {} failed", linkPeer.bus(), cause);
    } else if (cause instanceof MalformedFrameException
        || cause instanceof io.netty.handler.codec.DecoderException) {
      LOG.warn("Bus {} sent a malformed frame: {}", linkPeer.bus(), cause.toString());
    } else {
      LOG.error("The lane of bus {} failed", linkPeer.bus(), cause);
    }
    ctx.close();
  }
}
