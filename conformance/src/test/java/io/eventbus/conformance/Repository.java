package io.eventbus.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of the repository, from any working directory in it. */
public final class Repository {
  private Repository() {}

  /** Finds a file by its path from the root. */
  public static Path find(String path) {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve(path))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new AssertionError("no " + path + " above " + Path.of("").toAbsolutePath());
    }
    return folder.resolve(path);
  }

  /** Reads a file by its path from the root. */
  public static String read(String path) {
    try {
      return Files.readString(find(path));
    } catch (IOException e) {
      throw new UncheckedIOException(path + " cannot be read", e);
    }
  }
}
