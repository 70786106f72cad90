package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.routing.BusMemory;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Takes the bytes of one connection apart into frames and messages (RFC 6455, section 5) and gives
 * each message to the handler.
 *
 * <p>A message that is one frame inside one read is handled where it lies; only what a read cuts in
 * two is copied. When the handler has to wait, the rest is kept, reading stops, and all goes on
 * from there later. Confined to the connection's loop but for {@link #held}.
 */
final class InboundFrames {
  private final LoopState loop;
  private final WebSocketConnection connection;
  private final MessageHandler handler;
  private final boolean deflateNegotiated;
  private final MessageAssembler assembler;
  private final FrameHeader header = new FrameHeader();
  private final Retry retry = new Retry(this);

  private final ParkedInput parked;
  private @Nullable Utf8Stream utf8;
  private boolean ignoring;
  private boolean discarding;

  InboundFrames(
      LoopState loop,
      WebSocketConnection connection,
      MessageHandler handler,
      boolean deflateNegotiated) {
    this.loop = loop;
    this.connection = connection;
    this.handler = handler;
    this.deflateNegotiated = deflateNegotiated;
    BusMemory memory = loop.context().bus().memory();
    this.parked = new ParkedInput(memory);
    this.assembler = new MessageAssembler(loop.context().allocator(), memory);
  }

  /**
   * What those call who made this connection wait, perhaps long after its end: until then they must
   * not keep it alive.
   */
  private static final class Retry implements Runnable {
    private volatile @Nullable InboundFrames waiting;

    Retry(InboundFrames waiting) {
      this.waiting = waiting;
    }

    @Override
    public void run() {
      InboundFrames frames = waiting;
      if (frames != null) {
        frames.resumeSoon();
      }
    }
  }

  /** Takes over a buffer and handles all that it completes. */
  void feed(ByteBuf in, long nowNanos) throws WebSocketViolation {
    if (parked.isWaiting()) {
      parked.keep(in, false);
      return;
    }
    boolean kept = false;
    try {
      while (in.isReadable() && !discarding) {
        step(in, nowNanos);
        if (parked.isWaiting()) {
          parked.keep(in, true);
          kept = true;
          return;
        }
      }
    } finally {
      if (!kept) {
        in.release();
      }
    }
  }

  private void step(ByteBuf in, long nowNanos) throws WebSocketViolation {
    ByteBuf partial = assembler.partialFrame();
    if (partial != null) {
      completePartial(partial, in, nowNanos);
    } else if (header.read(in, deflateNegotiated)) {
      checkHeader();
      long total = header.headerBytes + header.length;
      if (in.readableBytes() >= total) {
        int end = in.readerIndex() + (int) total;
        onFrame(in, nowNanos);
        in.readerIndex(end);
      } else {
        assembler.addToPartial(in, in.readableBytes());
      }
    } else {
      assembler.addToPartial(in, in.readableBytes());
    }
  }

  private void completePartial(ByteBuf partial, ByteBuf in, long nowNanos)
      throws WebSocketViolation {
    if (!header.read(partial, deflateNegotiated)) {
      // One byte at a time, until the header tells how many more there are.
      assembler.addToPartial(in, 1);
      if (header.read(partial, deflateNegotiated)) {
        checkHeader();
        finishPartialIfComplete(partial, nowNanos);
      }
      return;
    }
    long missing = header.headerBytes + header.length - partial.readableBytes();
    assembler.addToPartial(in, (int) Math.min(missing, Integer.MAX_VALUE));
    finishPartialIfComplete(partial, nowNanos);
  }

  private void finishPartialIfComplete(ByteBuf partial, long nowNanos) throws WebSocketViolation {
    if (partial.readableBytes() == header.headerBytes + header.length) {
      try {
        onFrame(partial, nowNanos);
      } finally {
        assembler.clearPartial();
      }
    }
  }

  /** What can be refused before the payload has come. */
  private void checkHeader() throws WebSocketViolation {
    if (Opcode.isControl(header.opcode)) {
      return;
    }
    if (ignoring) {
      assembler.checkSize(header, handler.maxMessageBytes());
      return;
    }
    assembler.check(header, handler.maxMessageBytes());
    if (header.opcode == Opcode.TEXT && !handler.acceptsText()) {
      throw new WebSocketViolation(
          CloseReason.UNSUPPORTED_DATA,
          "a text message on a binary sub-protocol (expected: binary)");
    }
  }

  private void onFrame(ByteBuf buf, long nowNanos) throws WebSocketViolation {
    int start = buf.readerIndex() + header.headerBytes;
    int length = (int) header.length;
    Masking.unmask(buf, start, length, header.mask);
    switch (header.opcode) {
      case Opcode.PING -> connection.onPing(buf.slice(start, length));
      // Any bytes are a sign of life; that was noted when they came.
      case Opcode.PONG -> connection.onPong(buf.slice(start, length));
      case Opcode.CLOSE -> connection.onCloseFrame(buf.slice(start, length));
      default -> onData(buf, start, length, nowNanos);
    }
  }

  private void onData(ByteBuf buf, int start, int length, long nowNanos) throws WebSocketViolation {
    if (ignoring) {
      return;
    }
    boolean fin = header.fin;
    if (header.opcode != Opcode.CONTINUATION) {
      assembler.begin(header);
    }
    boolean compressed = assembler.isCompressed();
    if (assembler.isText() && !compressed) {
      checkUtf8(buf, start, length, fin);
    }
    if (fin && !assembler.isFragmented() && !compressed) {
      deliver(buf, start, length, nowNanos);
      return;
    }
    assembler.addFragment(buf.slice(start, length));
    if (fin) {
      deliverAssembled(compressed, nowNanos);
    }
  }

  private void deliverAssembled(boolean compressed, long nowNanos) throws WebSocketViolation {
    ByteBuf message = assembler.message();
    if (!compressed) {
      // Handling it may close this connection, which frees what is assembled.
      message.retain();
      try {
        deliver(message, message.readerIndex(), message.readableBytes(), nowNanos);
      } finally {
        message.release();
      }
      assembler.endMessage();
      return;
    }
    ByteBuf plain =
        loop.deflate().inflate(loop.context().allocator(), message, handler.maxMessageBytes());
    assembler.endMessage();
    try {
      if (assembler.isText()) {
        checkUtf8(plain, plain.readerIndex(), plain.readableBytes(), true);
      }
      deliver(plain, plain.readerIndex(), plain.readableBytes(), nowNanos);
    } finally {
      plain.release();
    }
  }

  private void checkUtf8(ByteBuf buf, int start, int length, boolean last)
      throws WebSocketViolation {
    Utf8Stream stream = utf8;
    if (stream == null) {
      stream = new Utf8Stream();
      utf8 = stream;
    }
    if (!stream.accept(buf, start, length) || (last && !stream.finish())) {
      throw new WebSocketViolation(CloseReason.MALFORMED, "a text message that is not UTF-8");
    }
  }

  private void deliver(ByteBuf buf, int start, int length, long nowNanos) {
    loop.context().stats().messagesIn.add(1);
    handle(buf, start, length, nowNanos);
  }

  private void handle(ByteBuf buf, int start, int length, long nowNanos) {
    ByteBuffer message = buf.internalNioBuffer(start, length);
    int from = message.position();
    int to = message.limit();
    int at = handler.onMessage(message, from, to, assembler.isText(), nowNanos, retry);
    if (at < to && connection.isOpen()) {
      int done = at - from;
      parked.park(buf.retainedSlice(start + done, length - done), nowNanos);
      connection.pauseReading();
    }
  }

  private void resumeSoon() {
    try {
      loop.eventLoop().execute(() -> connection.guarded(this::resume));
    } catch (RejectedExecutionException e) {
      // The bus has ended; so has this connection.
      return;
    }
  }

  private void resume() throws WebSocketViolation {
    long nowNanos = parked.receivedNanos();
    ByteBuf rest = ignoring ? null : parked.takeMessage();
    if (rest == null) {
      return;
    }
    try {
      handle(rest, rest.readerIndex(), rest.readableBytes(), nowNanos);
    } finally {
      rest.release();
    }
    // Handling may close this connection, which frees what is parked: look again each time.
    while (!parked.isWaiting()) {
      ByteBuf next = parked.takeNext();
      if (next == null) {
        break;
      }
      feed(next, nowNanos);
    }
    if (!parked.isWaiting() && !discarding) {
      connection.resumeReading();
    }
  }

  /** Bytes held for this connection; any thread. */
  long held() {
    return assembler.held() + parked.held();
  }

  /** Data messages are skipped from now on; control frames are still understood. */
  void ignoreMessages() {
    ignoring = true;
    parked.clear();
    assembler.endMessage();
  }

  /** Nothing that comes is looked at any more. */
  void discardAll() {
    discarding = true;
    ignoreMessages();
    assembler.clearPartial();
  }

  void close() {
    retry.waiting = null;
    discarding = true;
    ignoring = true;
    parked.clear();
    assembler.close();
  }
}
