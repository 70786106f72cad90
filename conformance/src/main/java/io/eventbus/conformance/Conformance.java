package io.eventbus.conformance;

import io.eventbus.conformance.vector.VectorFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The command. */
public final class Conformance {
  private Conformance() {}

  /**
   * Runs.
   *
   * @param args flags
   * @throws IOException if a file cannot be written
   */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[1]);
    for (Map.Entry<String, String> file : VectorFiles.make().entrySet()) {
      Files.writeString(directory.resolve(file.getKey()), file.getValue());
    }
  }
}
