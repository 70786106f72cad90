package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.session.WorkBudget;
import io.eventbus.server.transport.websocket.FrameHeader;
import io.eventbus.server.transport.websocket.Masking;
import io.eventbus.server.transport.websocket.MessageAssembler;
import io.eventbus.server.transport.websocket.Opcode;
import io.eventbus.server.transport.websocket.Utf8Stream;
import io.eventbus.server.transport.websocket.WebSocketViolation;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of one connection's bytes into frames and messages (RFC 6455, section 5), which gives
 * each message to the handler.
 *
 * <p>A message that is one frame inside one read is handled where it lies; only what a read cuts in
 * two is copied. When the handler has to wait, the rest is kept, reading stops, and decoding
 * resumes from there later. Confined to the connection's loop but for {@link #held}.
 */
final class InboundFrames {
  private final ConnectionLoop loop;
  private final WebSocketConnection connection;
  private final MessageHandler handler;
  private final boolean deflateNegotiated;
  private final MessageAssembler assembler;
  private final FrameHeader header = new FrameHeader();
  private final Retry retry = new Retry(this);

  private final PausedInput paused;
  private @Nullable Utf8Stream utf8;

  /** Location of a paused message that was put together from pieces. */
  private enum Later {
    NOTHING,
    PARTIAL,
    MESSAGE
  }

  /**
   * Time above which inflating counts as long: more than a message of some hundred kilobytes takes.
   */
  private static final long LONG_INFLATE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Bound of bytes behind a paused message: more than one read brings. */
  private static final int MAX_BEHIND = 128 * 1024;

  private Later handledLater = Later.NOTHING;
  // Whether the current message counts as memory of pieces, and the bytes acquired for an inflated
  // one.
  private boolean assembled;
  private long inflated;
  private boolean inflatedLacks;
  private boolean waitsForRoom;
  private boolean waitsForTurn;

  /** Time that the last message took to inflate; the initial value assumes the worst. */
  private long inflateNanos = LONG_INFLATE_NANOS;

  // Whether a message waits in the queue of those that may take long to inflate, or is inflated.
  private boolean waitsToInflate;
  private boolean isInflating;
  private final WorkBudget budget;
  private final WorkBudget.Share share = new WorkBudget.Share();
  private boolean ignoring;
  private boolean discarding;

  InboundFrames(
      ConnectionLoop loop,
      WebSocketConnection connection,
      MessageHandler handler,
      boolean deflateNegotiated) {
    this.loop = loop;
    this.connection = connection;
    this.handler = handler;
    this.deflateNegotiated = deflateNegotiated;
    this.budget = loop.context().budget();
    BusMemory memory = loop.context().bus().memory();
    this.paused = new PausedInput(memory);
    this.assembler = new MessageAssembler(loop.context().allocator(), memory);
  }

  /**
   * Retry callback; may run long after the connection has closed, and must not keep it alive until
   * then.
   */
  private static final class Retry implements Runnable {
    private volatile @Nullable InboundFrames waiting;

    Retry(InboundFrames waiting) {
      this.waiting = waiting;
    }

    @Override
    public void run() {
      InboundFrames frames = waiting;
      if (frames == null) {
        return;
      }
      frames.resumeSoon();
    }

    /** Called in the turn that the connection waited for. */
    void inTurn() {
      InboundFrames frames = waiting;
      if (frames != null) {
        frames.waitsForTurn = false;
        frames.connection.guarded(frames::resume);
      }
    }
  }

  private BusMemory memory() {
    return loop.context().bus().memory();
  }

  /** Continues in a later turn of the loop. Until then nothing else makes it continue. */
  void nextTurn() {
    if (!waitsForTurn) {
      waitsForTurn = true;
      connection.inTurn(retry::inTurn);
    }
  }

  /** Charges work that the client caused outside a turn of its own. */
  void caused(long nanos) {
    budget.charge(share, nanos);
  }

  /** Calls back after a delay. Nothing else makes the input continue until then. */
  void later(Runnable again, long nanos) {
    if (again != retry) {
      loop.later(again, nanos);
    } else if (!waitsForTurn) {
      waitsForTurn = true;
      loop.later(retry::inTurn, nanos);
    }
  }

  /** Handles all that a buffer completes, and takes it over. */
  void feed(ByteBuf in, long nowNanos) throws WebSocketViolation {
    if (paused.isWaiting()) {
      if (mayKeep()) {
        paused.keep(in, false);
      } else {
        in.release();
        connection.abandon();
      }
      return;
    }
    budget.enter(share);
    boolean kept = false;
    try {
      while (!discarding && (in.isReadable() || isFrameComplete())) {
        boolean forRoom = false;
        if (budget.mustYield()) {
          paused.hold(nowNanos);
          nextTurn();
        } else if (!step(in, nowNanos)) {
          paused.hold(nowNanos);
          forRoom = !memory().isOver();
          waitForRoom();
          handler.inputLacksMemory(true);
        }
        if (paused.isWaiting()) {
          paused.keep(in, true);
          kept = true;
          pause(forRoom);
          return;
        }
      }
    } finally {
      if (!kept) {
        in.release();
      }
      budget.leave();
    }
  }

  /**
   * Returns whether bytes that arrive while nothing is read may be kept. Behind TLS they may have
   * come with what was read before. Otherwise the client has gone: the system delivers all that it
   * had sent, and at its end the connection ends with what waits. Nothing of that was confirmed.
   */
  private boolean mayKeep() {
    boolean hasRoom = connection.isEncrypted() || (!waitsForRoom && !memory().isOver());
    return hasRoom && paused.bytesBehind() < MAX_BEHIND;
  }

  /** Waits for a turn to inflate, for room, or for the message itself. */
  private void waitForRoom() {
    if (waitsToInflate) {
      return;
    }
    if (inflatedLacks) {
      memory().longPieces().whenRoom(retry);
      inflatedLacks = false;
    } else {
      assembler.lacking().whenRoom(retry);
    }
  }

  /**
   * Decodes one frame, or a part of it.
   *
   * @return false if there is no memory for it now; then nothing is consumed
   */
  private boolean step(ByteBuf in, long nowNanos) throws WebSocketViolation {
    budget.spend(1);
    ByteBuf partial = assembler.partialFrame();
    if (partial != null) {
      return completePartial(partial, in, nowNanos);
    }
    if (!header.read(in, deflateNegotiated)) {
      return assembler.addToPartial(
          in, in.readableBytes(), FrameHeader.MAX_BYTES + in.readableBytes(), nowNanos);
    }
    checkHeader();
    long total = header.headerBytes + header.length;
    if (in.readableBytes() < total) {
      return assembler.addToPartial(in, in.readableBytes(), total, nowNanos);
    }
    if (!hasRoom(nowNanos)) {
      return false;
    }
    int end = in.readerIndex() + (int) total;
    onFrame(in, nowNanos);
    in.readerIndex(end);
    return true;
  }

  /** Returns whether a frame that came in pieces is complete and waits for memory. */
  private boolean isFrameComplete() throws WebSocketViolation {
    ByteBuf partial = assembler.partialFrame();
    return partial != null
        && header.read(partial, deflateNegotiated)
        && partial.readableBytes() == header.headerBytes + header.length;
  }

  private boolean completePartial(ByteBuf partial, ByteBuf in, long nowNanos)
      throws WebSocketViolation {
    if (!header.read(partial, deflateNegotiated)) {
      // Byte by byte, until the header tells how many more there are.
      if (!assembler.addToPartial(in, 1, FrameHeader.MAX_BYTES, nowNanos)) {
        return false;
      }
      if (header.read(partial, deflateNegotiated)) {
        checkHeader();
        return finishPartialIfComplete(partial, nowNanos);
      }
      return true;
    }
    long total = header.headerBytes + header.length;
    int missing = (int) Math.min(total - partial.readableBytes(), Integer.MAX_VALUE);
    return (missing == 0 || assembler.addToPartial(in, missing, total, nowNanos))
        && finishPartialIfComplete(partial, nowNanos);
  }

  private boolean finishPartialIfComplete(ByteBuf partial, long nowNanos)
      throws WebSocketViolation {
    if (partial.readableBytes() < header.headerBytes + header.length) {
      return true;
    }
    if (!hasRoom(nowNanos)) {
      return false;
    }
    boolean inPlace = !assembler.isPiece(header);
    boolean kept = false;
    try {
      assembled = true;
      onFrame(partial, nowNanos);
      kept = inPlace && paused.holdsPiece();
    } finally {
      assembled = false;
      if (kept) {
        handledLater = Later.PARTIAL;
      } else {
        assembler.clearPartial();
      }
    }
    return true;
  }

  /** Returns whether there is room for the current frame's payload, if it has to be kept. */
  private boolean hasRoom(long nowNanos) {
    return ignoring
        || Opcode.isControl(header.opcode)
        || !assembler.isPiece(header)
        || (assembler.makeRoom((int) header.length, nowNanos)
            && (!header.fin || !assembler.needsInflating(header) || acquireInflated()));
  }

  /** Acquires memory for an inflated message, which is held beside the compressed one. */
  private boolean acquireInflated() {
    if (inflateNanos >= LONG_INFLATE_NANOS) {
      isInflating = loop.inflateQueue().mayBegin(retry, budget.now());
      waitsToInflate = !isInflating;
      if (waitsToInflate) {
        return false;
      }
    }
    int max = handler.maxMessageBytes();
    inflatedLacks = !memory().longPieces().tryAcquire(max, assembler.heldOfLong());
    if (inflatedLacks) {
      // Other connections may have the memory that they need.
      endInflating(0);
      return false;
    }
    inflated = max;
    return true;
  }

  private void leaveInflating() {
    loop.inflateQueue().leave(retry, budget.now());
    endInflating(0);
  }

  private void endInflating(long nanos) {
    if (isInflating || nanos >= LONG_INFLATE_NANOS) {
      isInflating = false;
      // Short messages leave enough room to others.
      loop.inflateQueue().took(nanos < LONG_INFLATE_NANOS ? 0 : nanos, budget.now());
    }
  }

  private void releaseInflated() {
    memory().longPieces().release(inflated);
    inflated = 0;
  }

  /** Refuses what can be refused before the payload has come. */
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
    boolean piece = assembler.isPiece(header);
    if (header.opcode != Opcode.CONTINUATION) {
      assembler.begin(header);
    }
    boolean compressed = assembler.isCompressed();
    if (assembler.isText() && !compressed) {
      checkUtf8(buf, start, length, fin);
    }
    if (!piece) {
      deliver(buf, start, length, nowNanos);
      return;
    }
    assembler.addFragment(buf, start, length);
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
        assembled = true;
        deliver(message, message.readerIndex(), message.readableBytes(), nowNanos);
      } finally {
        assembled = false;
        message.release();
      }
      if (paused.holdsPiece()) {
        handledLater = Later.MESSAGE;
      } else {
        assembler.endMessage();
      }
      return;
    }
    long began = budget.now();
    ByteBuf plain;
    try {
      plain =
          loop.deflate().inflate(loop.context().allocator(), message, handler.maxMessageBytes());
    } finally {
      budget.spendSince(began);
      inflateNanos = budget.now() - began;
      endInflating(inflateNanos);
    }
    assembler.endMessage();
    try {
      assembled = true;
      if (assembler.isText()) {
        checkUtf8(plain, plain.readerIndex(), plain.readableBytes(), true);
      }
      deliver(plain, plain.readerIndex(), plain.readableBytes(), nowNanos);
    } finally {
      assembled = false;
      plain.release();
      if (!paused.holdsPiece()) {
        releaseInflated();
      }
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
      // A message that waits for others, not for its own turn, no longer counts as pieces.
      boolean isPiece = assembled && waitsForTurn;
      // An assembled message is kept whole, however little of it is left; a message in a network
      // buffer counts with that buffer.
      int bytes = isPiece ? 0 : assembled ? buf.capacity() : length - done;
      paused.pause(buf.retainedSlice(start + done, length - done), isPiece, bytes, nowNanos);
      pause(false);
    }
  }

  private void pause(boolean forRoom) {
    waitsForRoom = forRoom;
    assembler.pause(forRoom, System.nanoTime());
    connection.pauseReading();
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
    if (!paused.isWaiting() || waitsForTurn) {
      return;
    }
    paused.resume();
    assembler.resume(System.nanoTime());
    handler.inputLacksMemory(false);
    long nowNanos = paused.receivedNanos();
    ByteBuf rest = paused.takeMessage();
    if (rest != null) {
      budget.enter(share);
      try {
        assembled = handledLater != Later.NOTHING || inflated > 0;
        handle(rest, rest.readerIndex(), rest.readableBytes(), nowNanos);
      } finally {
        assembled = false;
        rest.release();
        budget.leave();
      }
      if (!paused.holdsPiece()) {
        handled();
      }
    }
    // Handling may close this connection, which frees paused input: check again each time.
    while (!paused.isWaiting()) {
      ByteBuf next = paused.takeNext();
      if (next == null) {
        break;
      }
      feed(next, nowNanos);
    }
    if (!paused.isWaiting() && !discarding) {
      connection.resumeReading();
    }
  }

  /** Returns the bytes held for this connection; any thread. */
  long held() {
    return assembler.held() + paused.held();
  }

  /** Releases what was kept until a paused message was handled. */
  private void handled() {
    switch (handledLater) {
      case NOTHING -> {}
      case PARTIAL -> assembler.clearPartial();
      case MESSAGE -> assembler.endMessage();
    }
    handledLater = Later.NOTHING;
    releaseInflated();
  }

  /** Returns the bytes of unfinished messages; for the loop. */
  MessageAssembler unfinished() {
    return assembler;
  }

  /** Returns whether a part of a message is here. */
  boolean isUnfinished() {
    return assembler.isUnfinished();
  }

  /** Returns whether the message that has begun is overdue. */
  boolean isOverdue(long nowNanos) {
    return assembler.isUnfinished()
        && !paused.isWaiting()
        && nowNanos - assembler.beganNanos() > loop.config().timeouts().message().toNanos();
  }

  /** Skips data messages from now on; control frames are still understood. */
  void ignoreMessages() {
    ignoring = true;
    leaveInflating();
    paused.clear();
    handled();
    assembler.endMessage();
  }

  /** Discards all further input. */
  void discardAll() {
    discarding = true;
    ignoreMessages();
    assembler.clearPartial();
  }

  void close() {
    leaveInflating();
    retry.waiting = null;
    discarding = true;
    ignoring = true;
    paused.clear();
    handled();
    assembler.close();
  }
}
