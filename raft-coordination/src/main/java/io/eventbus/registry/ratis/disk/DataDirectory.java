package io.eventbus.registry.ratis.disk;

import io.eventbus.base.SyncedFile;
import io.eventbus.registry.BusId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The directory in which a bus keeps its copy of the registry.
 *
 * <pre>
 *   registry.lock     locked while a process uses the directory
 *   registry.marker   whose it is: the cluster, the bus, and whether the files of Ratis are there
 *   engine/           the files of Ratis
 * </pre>
 *
 * <p>Nothing in it is ever overwritten because it could not be understood: a directory that is
 * damaged or another bus's is refused. A bus that has lost what it once promised to the others must
 * not vote again under the same name as if nothing had happened.
 */
public final class DataDirectory implements AutoCloseable {
  private static final Pattern MARKER =
      Pattern.compile(
          """
          eventbus registry 1
          cluster ([0-9a-f-]{36})
          bus (\\S{1,64})
          engine (empty|ready)
          founder (true|false)
          crc32c ([0-9a-f]{8})
          """);

  /** Content of the marker. */
  public record Marker(UUID cluster, BusId bus, boolean ready, boolean founder) {}

  private final Path directory;
  private final FileChannel lockFile;
  private final FileLock lock;
  private @Nullable Marker marker;

  private DataDirectory(
      Path directory, FileChannel lockFile, FileLock lock, @Nullable Marker marker) {
    this.directory = directory;
    this.lockFile = lockFile;
    this.lock = lock;
    this.marker = marker;
  }

  /** Opens and locks the directory, creates it if necessary, and checks its owner. */
  public static DataDirectory open(Path directory, BusId bus) throws IOException {
    Files.createDirectories(directory);
    return lock(directory, () -> check(directory, bus));
  }

  /** Opens and locks a directory that any bus has used. */
  static DataDirectory openUsed(Path directory) throws IOException {
    if (!Files.isRegularFile(directory.resolve("registry.marker"))) {
      throw new IOException(
          "data directory "
              + directory
              + ": no registry.marker (expected: that a bus has used it)");
    }
    return lock(directory, () -> parse(directory, Files.readAllBytes(markerOf(directory))));
  }

  private interface Check {
    @Nullable Marker marker() throws IOException;
  }

  private static DataDirectory lock(Path directory, Check check) throws IOException {
    FileChannel file =
        FileChannel.open(
            directory.resolve("registry.lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    FileLock lock = null;
    try {
      lock = file.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another registry in this process; the answer is the same.
    }
    try {
      if (lock == null) {
        throw new IOException(
            "data directory " + directory + ": another process uses it (expected: one at a time)");
      }
      return new DataDirectory(directory, file, lock, check.marker());
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private static @Nullable Marker check(Path directory, BusId bus) throws IOException {
    Path file = markerOf(directory);
    Path engine = directory.resolve("engine");
    if (!Files.exists(file)) {
      if (!isEmpty(engine)) {
        throw damaged(directory, "there are engine files, but no registry.marker");
      }
      return null;
    }
    Marker marker = parse(directory, Files.readAllBytes(file));
    if (!marker.bus().equals(bus)) {
      throw new IOException(
          "data directory " + directory + ": bus " + marker.bus() + " (expected: " + bus + ")");
    }
    Path meta = engine.resolve(marker.cluster().toString()).resolve("current/raft-meta");
    if (marker.ready() && !Files.isRegularFile(meta)) {
      throw damaged(directory, "the engine's files are missing");
    }
    return marker;
  }

  private static Path markerOf(Path directory) {
    return directory.resolve("registry.marker");
  }

  private static Marker parse(Path directory, byte[] bytes) throws IOException {
    Matcher text = MARKER.matcher(new String(bytes, StandardCharsets.UTF_8));
    if (!text.matches()) {
      throw damaged(directory, "registry.marker cannot be read");
    }
    int checked = text.start(5) - "crc32c ".length();
    if (!text.group(5).equals(checksum(text.group().substring(0, checked)))) {
      throw damaged(directory, "registry.marker has a wrong checksum");
    }
    return new Marker(
        UUID.fromString(text.group(1)),
        new BusId(text.group(2)),
        text.group(3).equals("ready"),
        text.group(4).equals("true"));
  }

  private static IOException damaged(Path directory, String what) {
    return new IOException(
        "data directory "
            + directory
            + " is damaged: "
            + what
            + " (restore it, or remove this bus from the cluster and start it with an empty"
            + " directory and another id)");
  }

  /** Returns the content of the marker; null if there is none. */
  public @Nullable Marker marker() {
    return marker;
  }

  /** Returns the directory for the files of Ratis. */
  public Path engine() {
    return directory.resolve("engine");
  }

  /**
   * Returns whether Ratis has written something for this cluster, also before it was marked ready.
   */
  public boolean hasEngineFiles(UUID cluster) throws IOException {
    return !isEmpty(engine().resolve(cluster.toString()).resolve("current"));
  }

  /** Writes the marker, which is on the disk before this returns. */
  public void mark(Marker next) throws IOException {
    String text =
        "eventbus registry 1\ncluster "
            + next.cluster()
            + "\nbus "
            + next.bus()
            + "\nengine "
            + (next.ready() ? "ready" : "empty")
            + "\nfounder "
            + next.founder()
            + "\n";
    SyncedFile.write(markerOf(directory), text + "crc32c " + checksum(text) + "\n");
    marker = next;
  }

  private static boolean isEmpty(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return true;
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.findAny().isEmpty();
    }
  }

  private static String checksum(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return String.format("%08x", crc.getValue());
  }

  @Override
  public void close() throws IOException {
    lock.close();
    lockFile.close();
  }
}
