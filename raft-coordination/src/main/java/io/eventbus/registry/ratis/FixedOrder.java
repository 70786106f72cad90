package io.eventbus.registry.ratis;

import io.eventbus.link.LinkServiceException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Small messages between buses: a version, then values in a fixed order. */
final class FixedOrder {
  private static final int VERSION = 1;

  private FixedOrder() {}

  /** Writes the values. */
  interface Writer {
    void write(DataOutputStream out) throws IOException;
  }

  /** Reads the values; what it makes of them may refuse them. */
  interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  static byte[] encode(Writer values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      values.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Throws {@link CommandService#MALFORMED} for what cannot be read. */
  static <T> T decode(byte[] bytes, Reader<T> values) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte version = in.readByte();
      if (version != VERSION) {
        throw new IOException("version: " + version + " (expected: " + VERSION + ")");
      }
      return values.read(in);
    } catch (IOException | IllegalArgumentException e) {
      throw new LinkServiceException(CommandService.MALFORMED, String.valueOf(e.getMessage()));
    }
  }
}
