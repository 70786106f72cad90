package io.eventbus.client.tyrus;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Parser of the bytes that a bus sends into WebSocket frames (RFC 6455, section 5.2). Whole binary
 * messages in one frame, which is nearly everything, are copied once, into an array of their own;
 * every other frame is passed to Tyrus unchanged, with its head. For one thread.
 */
final class FrameReader {
  /** Receiver of frames. */
  interface Sink {
    /** Takes a whole binary message in an array of its own. */
    void message(ByteBuffer message);

    /** Takes any other frame, with its head. */
    void otherFrame(ByteBuffer frame);

    /** Called for a frame that is masked, or over the limit: nothing more can be read. */
    void broken(int closeCode, String reason);

    /** Returns whether to stop before the next frame. */
    boolean isPaused();
  }

  private static final int WHOLE_BINARY = 0x82;
  private static final int FINAL = 0x80;
  private static final int OPCODE = 0x0F;
  private static final int CONTROL = 0x08;
  private static final int MASKED = 0x80;
  private static final int PROTOCOL_ERROR = 1002;
  private static final int TOO_BIG = 1009;

  private int maxBytes;
  private final Sink sink;
  private final byte[] head = new byte[10];
  private int headBytes;
  private byte @Nullable [] frame;
  private int filled;
  private boolean whole;
  private boolean inFragments;
  private boolean over;

  /** Creates a reader at the start of a stream. */
  FrameReader(int maxBytes, Sink sink) {
    this.maxBytes = maxBytes;
    this.sink = sink;
  }

  /** Accepts messages of up to this size from the next one on. */
  void limit(int bytes) {
    maxBytes = bytes;
  }

  /** Returns whether nothing more can be read, because the stream is broken. */
  boolean isOver() {
    return over;
  }

  /** Reads until the end of the bytes, or until the sink is paused. */
  void read(ByteBuffer in) {
    while (!over && in.hasRemaining() && !sink.isPaused()) {
      byte[] filling = frame;
      if (filling == null) {
        filling = readHead(in);
        if (filling == null) {
          continue;
        }
      }
      int bytes = Math.min(in.remaining(), filling.length - filled);
      in.get(filling, filled, bytes);
      filled += bytes;
      if (filled == filling.length) {
        frame = null;
        headBytes = 0;
        if (whole) {
          sink.message(ByteBuffer.wrap(filling));
        } else {
          sink.otherFrame(ByteBuffer.wrap(filling));
        }
      }
    }
  }

  /** Reads more of the head; returns the array to fill when it is complete. */
  private byte @Nullable [] readHead(ByteBuffer in) {
    head[headBytes++] = in.get();
    if (headBytes < 2) {
      return null;
    }
    int shortLength = head[1] & 0x7F;
    int needed = shortLength < 126 ? 2 : shortLength == 126 ? 4 : 10;
    if (headBytes < needed) {
      return null;
    }
    long length = shortLength;
    if (needed > 2) {
      length = 0;
      for (int i = 2; i < needed; i++) {
        length = length << 8 | (head[i] & 0xFF);
      }
    }
    if ((head[1] & MASKED) != 0) {
      fail(PROTOCOL_ERROR, "a bus must not mask its frames");
      return null;
    }
    if (length < 0 || length > maxBytes) {
      fail(TOO_BIG, "frame bytes: " + length + " (expected: at most " + maxBytes + ")");
      return null;
    }
    return begin(needed, (int) length);
  }

  private byte[] begin(int headLength, int length) {
    int first = head[0] & 0xFF;
    whole = first == WHOLE_BINARY && !inFragments;
    if (!whole && (first & CONTROL) == 0) {
      boolean last = (first & FINAL) != 0;
      inFragments = (first & OPCODE) == 0 ? inFragments && !last : inFragments || !last;
    }
    byte[] begun;
    if (whole) {
      begun = new byte[length];
      filled = 0;
    } else {
      begun = new byte[headLength + length];
      System.arraycopy(head, 0, begun, 0, headLength);
      filled = headLength;
    }
    frame = begun;
    return begun;
  }

  private void fail(int closeCode, String reason) {
    over = true;
    sink.broken(closeCode, reason);
  }
}
