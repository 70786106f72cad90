package io.eventbus.loadtest;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the commands that break what runs. */
final class FaultOptions {
  @Option(names = "--jar", description = "Jar of the bus (default: the bus of the load test).")
  private @Nullable Path jar;

  @Option(
      names = "--server-jvm",
      split = " ",
      paramLabel = "OPTION",
      description = "Options of each bus's JVM (default: ${DEFAULT-VALUE}).")
  private List<String> serverJvm =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  @Option(
      names = "--data",
      paramLabel = "DIRECTORY",
      description =
          "Where servers store events and write logs; logs are kept after findings"
              + " (default: a temporary directory).")
  private @Nullable Path data;

  @Nullable Path jar() {
    return jar;
  }

  List<String> serverJvm() {
    return serverJvm;
  }

  /** Creates the directory of a run. */
  Path directory(String prefix) throws IOException {
    Path parent = data == null ? Path.of(System.getProperty("java.io.tmpdir")) : data;
    return Files.createTempDirectory(Files.createDirectories(parent), prefix);
  }

  /** Returns a consumer of lines that are to be seen at once. */
  static Consumer<String> lines(PrintWriter out) {
    return line -> {
      out.println(line);
      out.flush();
    };
  }
}
