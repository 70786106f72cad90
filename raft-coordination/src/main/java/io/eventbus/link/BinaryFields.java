package io.eventbus.link;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Codec of small messages between buses: a version, then values in a fixed order. Bytes behind the
 * values are ignored, so that a later bus may add values at the end. Any thread.
 */
public final class BinaryFields {
  private static final int VERSION = 1;

  private BinaryFields() {}

  /** Writer of the values. */
  public interface Writer {
    /**
     * Writes all of them.
     *
     * @param out the destination
     * @throws IOException if a value cannot be written
     */
    void write(DataOutputStream out) throws IOException;
  }

  /**
   * Reader of the values.
   *
   * @param <T> the type of the result
   */
  public interface Reader<T> {
    /**
     * Reads all of them.
     *
     * @param in the source
     * @return the result
     * @throws IOException if they are not there; as an {@link IllegalArgumentException} it refuses
     *     the message
     */
    T read(DataInputStream in) throws IOException;
  }

  /**
   * Encodes some values as a message.
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
   * Decodes the values of a message.
   *
   * @param <T> the type of the result
   * @param bytes the message, which may be anything
   * @param values reads them
   * @return the result
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
   * Reads the number of values that follow, before memory is allocated for them.
   *
   * @param in the source
   * @param name name of the values, for the error
   * @param max the maximum
   * @return 0 to {@code max}
   * @throws IOException if it is another number
   */
  public static int count(DataInputStream in, String name, int max) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > max) {
      throw new IOException(name + ": " + count + " (expected: 0 to " + max + ")");
    }
    return count;
  }
}
