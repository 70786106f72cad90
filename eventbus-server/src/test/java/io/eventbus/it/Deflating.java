package io.eventbus.it;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Compression as RFC 7692 wants it, for a client without context take-over. */
final class Deflating {
  private static final byte[] TAIL = {0, 0, (byte) 0xFF, (byte) 0xFF};

  private Deflating() {}

  static byte[] deflate(byte[] message) {
    Deflater deflater = new Deflater(9, true);
    try {
      deflater.setInput(message);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      byte[] chunk = new byte[65_536];
      int n;
      do {
        n = deflater.deflate(chunk, 0, chunk.length, Deflater.SYNC_FLUSH);
        out.write(chunk, 0, n);
      } while (n == chunk.length);
      return Arrays.copyOf(out.toByteArray(), out.size() - TAIL.length);
    } finally {
      deflater.end();
    }
  }

  static byte[] inflate(byte[] compressed) throws DataFormatException {
    Inflater inflater = new Inflater(true);
    try {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      byte[] chunk = new byte[65_536];
      inflater.setInput(TestFrames.join(compressed, TAIL));
      for (int n = inflater.inflate(chunk); n > 0; n = inflater.inflate(chunk)) {
        out.write(chunk, 0, n);
      }
      return out.toByteArray();
    } finally {
      inflater.end();
    }
  }
}
