package io.eventbus.registry.codec;

import io.eventbus.registry.Backup;
import io.eventbus.registry.state.RegistryState;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Format of a backup of a registry: a stream of bytes, which is read back from a file.
 *
 * <p>The stream is {@code EBREGBK1}, the length of a description (4 bytes, big-endian), the
 * description in lines of text, the registry as {@link SnapshotFormat} writes it, and SHA-256 over
 * everything before (32 bytes). It guards against damage, not against forgery: an attacker that can
 * write the file can write the sum. Any thread may call any method.
 */
public final class BackupFormat {
  private static final byte[] MAGIC = "EBREGBK1".getBytes(StandardCharsets.US_ASCII);
  private static final int MAX_DESCRIPTION = 4_096;
  private static final int SUM_BYTES = 32;
  private static final Pattern DESCRIPTION =
      Pattern.compile(
          """
          eventbus registry backup 1
          cluster ([0-9a-f-]{0,36})
          bus (\\S{0,64})
          taken (\\S{1,40})
          version (\\d{1,19})
          buses (\\d{1,9})
          topics (\\d{1,9})
          """);

  private BackupFormat() {}

  /** Content of a file. */
  public record Content(Backup.Description description, RegistryState state) {}

  /**
   * Creates a backup of a state; it is encoded when it is written.
   *
   * @param cluster the id of the cluster; empty for none
   * @param bus the bus; empty for none
   */
  public static Backup of(String cluster, String bus, Instant taken, RegistryState state) {
    return new StateBackup(
        new Backup.Description(
            cluster,
            bus,
            taken,
            state.snapshot().version(),
            state.snapshot().buses().size(),
            state.snapshot().topics().size()),
        state);
  }

  private record StateBackup(Backup.Description description, RegistryState state)
      implements Backup {
    @Override
    public void writeTo(OutputStream out) throws IOException {
      write(description, state, out);
    }
  }

  private static void write(Backup.Description about, RegistryState state, OutputStream out)
      throws IOException {
    byte[] text =
        ("eventbus registry backup 1\ncluster "
                + about.cluster()
                + "\nbus "
                + about.bus()
                + "\ntaken "
                + about.taken()
                + "\nversion "
                + about.version()
                + "\nbuses "
                + about.buses()
                + "\ntopics "
                + about.topics()
                + "\n")
            .getBytes(StandardCharsets.UTF_8);
    MessageDigest sum = sha256();
    DataOutputStream data = new DataOutputStream(new DigestOutputStream(out, sum));
    data.write(MAGIC);
    data.writeInt(text.length);
    data.write(text);
    SnapshotFormat.write(state, data);
    data.flush();
    out.write(sum.digest());
    out.flush();
  }

  /**
   * Reads a backup.
   *
   * @throws RegistryFormatException if the file is no backup, or damaged
   * @throws IOException if reading fails
   */
  public static Content read(Path file) throws IOException {
    long length = Files.size(file) - SUM_BYTES;
    if (length < MAGIC.length + Integer.BYTES) {
      throw new RegistryFormatException(
          "backup " + file + ": " + Files.size(file) + " bytes: it ends too early");
    }
    checkSum(file, length);
    try (InputStream in =
        new FirstBytes(new BufferedInputStream(Files.newInputStream(file), 1 << 16), length)) {
      DataInputStream data = new DataInputStream(in);
      if (!Arrays.equals(data.readNBytes(MAGIC.length), MAGIC)) {
        throw new RegistryFormatException(
            "backup " + file + ": its first bytes are not a backup's");
      }
      Backup.Description said = description(data);
      RegistryState state = SnapshotFormat.read(in);
      if (said.version() != state.snapshot().version()) {
        throw new RegistryFormatException(
            "version: "
                + state.snapshot().version()
                + " (expected: "
                + said.version()
                + ", as described)");
      }
      return new Content(said, state);
    } catch (EOFException e) {
      throw new RegistryFormatException("backup " + file + ": it ends too early", e);
    }
  }

  private static void checkSum(Path file, long length) throws IOException {
    MessageDigest sum = sha256();
    byte[] written;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      byte[] piece = new byte[1 << 16];
      for (long left = length; left > 0; ) {
        int read = in.read(piece, 0, (int) Math.min(piece.length, left));
        if (read < 0) {
          throw new RegistryFormatException("backup " + file + ": it became shorter");
        }
        sum.update(piece, 0, read);
        left -= read;
      }
      written = in.readNBytes(SUM_BYTES);
    }
    if (!MessageDigest.isEqual(sum.digest(), written)) {
      throw new RegistryFormatException(
          "backup " + file + ": its checksum does not match: it is damaged, or no backup");
    }
  }

  private static Backup.Description description(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 1 || length > MAX_DESCRIPTION) {
      throw new RegistryFormatException(
          "length of the description: " + length + " (expected: 1 to " + MAX_DESCRIPTION + ")");
    }
    byte[] bytes = in.readNBytes(length);
    try {
      Matcher text =
          DESCRIPTION.matcher(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)));
      if (!text.matches()) {
        throw new RegistryFormatException(
            "the description cannot be read (expected: 'eventbus registry backup 1')");
      }
      return new Backup.Description(
          text.group(1),
          text.group(2),
          Instant.parse(text.group(3)),
          Long.parseLong(text.group(4)),
          Integer.parseInt(text.group(5)),
          Integer.parseInt(text.group(6)));
    } catch (CharacterCodingException | DateTimeException | NumberFormatException e) {
      throw new RegistryFormatException("the description cannot be read: " + e.getMessage(), e);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** First bytes of a stream, so that the sum at the end is not read as content. */
  private static final class FirstBytes extends InputStream {
    private final InputStream in;
    private long left;

    FirstBytes(InputStream in, long length) {
      this.in = in;
      this.left = length;
    }

    @Override
    public int read() throws IOException {
      if (left <= 0) {
        return -1;
      }
      left--;
      return in.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (left <= 0) {
        return -1;
      }
      int read = in.read(bytes, offset, (int) Math.min(length, left));
      left -= Math.max(0, read);
      return read;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
