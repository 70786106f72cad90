package io.eventbus.registry.ratis.forward;

import io.eventbus.link.LinkServiceException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Small messages between buses: a version, then values in a fixed order. */
public final class BinaryFields {
  private static final int VERSION = 1;

  private BinaryFields() {}

  /** Writes the values. */
  public interface Writer {
    /** Writes all of them. */
    void write(DataOutputStream out) throws IOException;
  }

  /** Reads the values; an {@link IllegalArgumentException} refuses them. */
  public interface Reader<T> {
    /** Reads all of them. */
    T read(DataInputStream in) throws IOException;
  }

  /** The message of the values. */
  public static byte[] encode(Writer values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      values.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The values of a message; a refusal with {@link CommandService#MALFORMED} if it is none. */
  public static <T> T decode(byte[] bytes, Reader<T> values) {
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
