package io.eventbus.server.transport.websocket;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Compression of messages (RFC 7692) without context take-over in either direction, so that a loop
 * needs one inflater and one deflater for all its connections and an idle connection costs nothing.
 * Confined to its loop.
 */
public final class PermessageDeflate implements AutoCloseable {
  private static final String NAME = "permessage-deflate";
  private static final byte[] TAIL = {0, 0, (byte) 0xFF, (byte) 0xFF};

  /**
   * Maximum size that is deflated, because a loop deflates without interruption, for each client.
   */
  public static final int MAX_DEFLATED = 256 * 1024;

  /** Maximum of offers in a request that are read; browsers make one. */
  private static final int MAX_OFFERS = 16;

  private static final Pattern CLIENT_BITS =
      Pattern.compile("client_max_window_bits=\"?(8|9|1[0-5])\"?");
  private static final Pattern SERVER_BITS = Pattern.compile("server_max_window_bits=\"?15\"?");

  private static final int CHUNK = 16 * 1024;

  private final Inflater inflater = new Inflater(true);
  private final Deflater deflater;

  public PermessageDeflate(int level) {
    deflater = new Deflater(level, true);
  }

  /**
   * Answers the offers of a client.
   *
   * @return the answer's header value, or null when none of the offers is acceptable
   */
  public static @Nullable String negotiate(Iterable<String> offers) {
    int seen = 0;
    for (String header : offers) {
      for (String offer : header.split(",", -1)) {
        if (seen++ == MAX_OFFERS) {
          return null;
        }
        if (isAcceptable(offer)) {
          // A limit that the client asked for has to be repeated (RFC 7692, section 7.1.2.1).
          boolean limited = offer.toLowerCase(Locale.ROOT).contains("server_max_window_bits");
          return NAME
              + "; server_no_context_takeover; client_no_context_takeover"
              + (limited ? "; server_max_window_bits=15" : "");
        }
      }
    }
    return null;
  }

  /**
   * Returns whether an offer is acceptable: the JDK's deflater cannot make the window smaller than
   * 15 bits, so an offer that insists is declined.
   */
  private static boolean isAcceptable(String offer) {
    String[] parts = offer.split(";", -1);
    if (!parts[0].strip().equalsIgnoreCase(NAME)) {
      return false;
    }
    Set<String> names = new HashSet<>();
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().toLowerCase(Locale.ROOT);
      boolean known =
          parameter.equals("server_no_context_takeover")
              || parameter.equals("client_no_context_takeover")
              || parameter.equals("client_max_window_bits")
              || CLIENT_BITS.matcher(parameter).matches()
              || SERVER_BITS.matcher(parameter).matches();
      // A parameter that is there twice is reason enough to decline (RFC 7692, section 7.1).
      if (!known || !names.add(parameter.split("=", -1)[0])) {
        return false;
      }
    }
    return true;
  }

  /** Inflates a whole message; stops at the limit, however small the compressed form is. */
  public ByteBuf inflate(ByteBufAllocator allocator, ByteBuf compressed, int limit)
      throws WebSocketViolation {
    ByteBuf out =
        allocator.directBuffer(Math.min(limit, Math.max(256, compressed.readableBytes() * 4)));
    try {
      inflater.reset();
      ByteBuffer in = compressed.nioBuffer();
      inflater.setInput(in);
      inflateInto(out, limit);
      while (inflater.finished() && in.hasRemaining()) {
        // A peer may end the stream and start another inside a message (section 7.2.3.4).
        inflater.reset();
        inflater.setInput(in);
        inflateInto(out, limit);
      }
      if (!inflater.finished()) {
        inflater.setInput(TAIL);
        inflateInto(out, limit);
      }
      return out;
    } catch (DataFormatException e) {
      out.release();
      throw new WebSocketViolation(
          CloseReason.MALFORMED, "the compressed message is broken: " + e.getMessage());
    } catch (WebSocketViolation e) {
      out.release();
      throw e;
    }
  }

  private void inflateInto(ByteBuf out, int limit) throws DataFormatException, WebSocketViolation {
    while (true) {
      int room = Math.min(CHUNK, limit + 1 - out.readableBytes());
      out.ensureWritable(room);
      ByteBuffer target = out.internalNioBuffer(out.writerIndex(), room);
      int n = inflater.inflate(target);
      out.writerIndex(out.writerIndex() + n);
      if (out.readableBytes() > limit) {
        throw new WebSocketViolation(
            CloseReason.TOO_BIG, "the message inflates to more than " + limit + " bytes");
      }
      if (n == 0 || inflater.finished()) {
        return;
      }
    }
  }

  /** Deflates a whole message. */
  public ByteBuf deflate(ByteBufAllocator allocator, ByteBuffer message) {
    ByteBuf out = allocator.directBuffer(Math.max(256, message.remaining() / 2));
    deflater.reset();
    deflater.setInput(message);
    int n;
    do {
      out.ensureWritable(CHUNK);
      ByteBuffer target = out.internalNioBuffer(out.writerIndex(), CHUNK);
      n = deflater.deflate(target, Deflater.SYNC_FLUSH);
      out.writerIndex(out.writerIndex() + n);
    } while (n == CHUNK);
    // The four bytes that every message ends with are not sent (RFC 7692, section 7.2.1).
    out.writerIndex(out.writerIndex() - TAIL.length);
    return out;
  }

  @Override
  public void close() {
    inflater.end();
    deflater.end();
  }
}
