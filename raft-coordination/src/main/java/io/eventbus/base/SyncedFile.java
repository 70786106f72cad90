package io.eventbus.base;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * Small files that are on the disk whole, with their names, or as they were before; directories for
 * them.
 */
public final class SyncedFile {
  private SyncedFile() {}

  /**
   * Writes a file anew, in UTF-8. Waits for the disk; after a loss of power the file has its old
   * content or the new one. A file of the same name with {@code .new} behind it is overwritten.
   */
  public static void write(Path file, String text) throws IOException {
    write(file, StandardCharsets.UTF_8.encode(text));
  }

  /** Writes a file anew, with what remains in a buffer, as {@link #write(Path, String)}. */
  public static void write(Path file, ByteBuffer content) throws IOException {
    ByteBuffer bytes = content.duplicate();
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel out =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) {
        int unused = out.write(bytes);
      }
      out.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncNames(Objects.requireNonNull(file.toAbsolutePath().getParent()));
  }

  private static void syncNames(Path directory) throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  /**
   * Makes a directory and those above it, as far as they are missing. Waits for the disk: they are
   * there after a loss of power.
   */
  public static void createDirectories(Path directory) throws IOException {
    Path absolute = directory.toAbsolutePath();
    Path parent = absolute.getParent();
    if (parent == null || Files.isDirectory(absolute)) {
      return;
    }
    createDirectories(parent);
    Path unused = Files.createDirectories(absolute);
    syncNames(parent);
  }
}
