package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Streams of bytes over a tunnel. */
final class TunnelStreams {
  private TunnelStreams() {}

  private static IOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted while waiting for the tunnel");
  }

  /** Input stream, for one reader at a time. */
  static final class In extends InputStream {
    private final OpenTunnel tunnel;
    private byte @Nullable [] bytes;
    private int at;

    In(OpenTunnel tunnel) {
      this.tunnel = tunnel;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public synchronized int read(byte[] to, int from, int length) throws IOException {
      Objects.checkFromIndexSize(from, length, to.length);
      if (length == 0) {
        return 0;
      }
      byte[] part = bytes;
      while (part == null || at == part.length) {
        part = next();
        if (part == null) {
          return -1;
        }
      }
      int n = Math.min(length, part.length - at);
      System.arraycopy(part, at, to, from, n);
      at += n;
      return n;
    }

    private byte @Nullable [] next() throws IOException {
      try {
        TunnelInput.Part part = tunnel.input().await();
        tunnel.onRead(true);
        at = 0;
        bytes = part == null ? null : part.bytes();
        return bytes;
      } catch (EventBusException e) {
        throw new IOException(e.getMessage(), e);
      } catch (InterruptedException e) {
        throw interrupted();
      }
    }

    @Override
    public synchronized int available() {
      byte[] part = bytes;
      int here = part == null ? 0 : part.length - at;
      return here > 0 ? here : tunnel.input().available();
    }

    @Override
    public void close() {
      if (!tunnel.input().hasEnded()) {
        tunnel.close();
      }
    }
  }

  /** Output stream. */
  static final class Out extends OutputStream {
    private final OpenTunnel tunnel;

    Out(OpenTunnel tunnel) {
      this.tunnel = tunnel;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] from, int start, int length) throws IOException {
      try {
        tunnel.awaitRoom();
        CompletionStage<Void> unused = tunnel.send(Arrays.copyOfRange(from, start, start + length));
      } catch (EventBusException | IllegalStateException e) {
        throw new IOException(e.getMessage(), e);
      } catch (InterruptedException e) {
        throw interrupted();
      }
    }

    @Override
    public void close() {
      tunnel.closeOutput();
    }
  }
}
