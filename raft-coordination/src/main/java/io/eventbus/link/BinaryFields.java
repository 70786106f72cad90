package io.eventbus.link;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Small messages between buses: a version, then values in a fixed order. Bytes behind the values
 * are left alone, so that a later bus may add values at the end. Any thread.
 */
public final class BinaryFields {
  private static final int VERSION = 1;

  private BinaryFields() {}

  /** Writes the values. */
  public interface Writer {
    /**
     * Writes all of them.
     *
     * @param out where to
     * @throws IOException if a value cannot be written
     */
    void write(DataOutputStream out) throws IOException;
  }

  /**
   * Reads the values.
   *
   * @param <T> what they make
   */
  public interface Reader<T> {
    /**
     * Reads all of them.
     *
     * @param in where from
     * @return what they make
     * @throws IOException if they are not there; as an {@link IllegalArgumentException} it refuses
     *     the message
     */
    T read(DataInputStream in) throws IOException;
  }

  /**
   * Makes the message of some values.
   *
   * @param values writes them
   * @return the message
   */
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

  /**
   * Reads the values of a message.
   *
   * @param <T> what they make
   * @param bytes the message, which may be anything
   * @param values reads them
   * @return what they make
   * @throws LinkServiceException with {@link LinkServiceException#MALFORMED} if it is no such
   *     message, saying why
   */
  public static <T> T decode(byte[] bytes, Reader<T> values) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte version = in.readByte();
      if (version != VERSION) {
        throw new IOException("version: " + version + " (expected: " + VERSION + ")");
      }
      return values.read(in);
    } catch (EOFException e) {
      throw new LinkServiceException(
          LinkServiceException.MALFORMED, "the message of " + bytes.length + " bytes is cut short");
    } catch (IOException | IllegalArgumentException e) {
      throw new LinkServiceException(
          LinkServiceException.MALFORMED, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reads how many values follow, before room is made for them.
   *
   * @param in where from
   * @param name what is counted, for the error
   * @param most how many there may be
   * @return 0 to {@code most}
   * @throws IOException if it is another number
   */
  public static int count(DataInputStream in, String name, int most) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > most) {
      throw new IOException(name + ": " + count + " (expected: 0 to " + most + ")");
    }
    return count;
  }
}
