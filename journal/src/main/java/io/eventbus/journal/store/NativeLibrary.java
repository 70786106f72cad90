package io.eventbus.journal.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;

/** Loading of RocksDB's native library, which its jar carries for each platform. */
final class NativeLibrary {
  private NativeLibrary() {}

  /**
   * Unpacks the library into a directory and loads it, unless the process has it already. Without
   * this RocksDB would use the directory for temporary files, from which nothing may be executed on
   * some machines, and which is memory on others.
   *
   * @throws IOException if this platform has none, or it cannot be loaded from there
   */
  static void load(Path directory) throws IOException {
    Files.createDirectories(directory);
    try {
      NativeLibraryLoader.getInstance().loadLibrary(directory.toString());
    } catch (IOException | RuntimeException | LinkageError e) {
      throw new IOException(
          "native library of RocksDB in "
              + directory
              + ": cannot be loaded on "
              + System.getProperty("os.name")
              + " "
              + System.getProperty("os.arch")
              + ": "
              + e
              + " (expected: a platform that the jar has a library for, and a directory from which"
              + " files may be executed)",
          e);
    }
  }
}
