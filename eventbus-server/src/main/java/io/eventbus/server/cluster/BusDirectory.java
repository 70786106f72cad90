package io.eventbus.server.cluster;

import io.eventbus.base.SyncedFile;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Directory of a bus in a cluster.
 *
 * <pre>
 *   identity    the name of the bus and of its cluster
 *   registry/   its copy of the registry
 * </pre>
 *
 * <p>A bus that was given no name keeps its first one here, because its vote belongs to that name.
 *
 * @param path where it is
 */
record BusDirectory(Path path, String bus) {
  private static final String FORMAT = "eventbus identity 1\n";
  private static final Pattern IDENTITY =
      Pattern.compile(Pattern.quote(FORMAT) + "cluster (\\S{1,64})\nbus (\\S{1,64})\n");

  /** Creates the directory if it is not there, and checks its owner. */
  static BusDirectory open(ServerConfig config) throws IOException {
    Path path = config.cluster().dataDirectory().toAbsolutePath().normalize();
    Path file = path.resolve("identity");
    try {
      Files.createDirectories(path);
      if (!Files.exists(file)) {
        SyncedFile.write(
            file,
            FORMAT + "cluster " + config.cluster().id() + "\nbus " + config.bus().name() + "\n");
        return new BusDirectory(path, config.bus().name());
      }
      return check(config, path, Files.readString(file));
    } catch (IOException e) {
      throw e.getMessage() != null && e.getMessage().startsWith("cluster.")
          ? e
          : new IOException(
              "cluster.directory: \"" + path + "\" cannot be used (expected: a directory): " + e,
              e);
    }
  }

  private static BusDirectory check(ServerConfig config, Path path, String text)
      throws IOException {
    Matcher found = IDENTITY.matcher(text);
    if (!found.matches()) {
      throw new IOException(
          "cluster.directory: \""
              + path
              + "\" is damaged: the file identity cannot be read (expected: one that a bus wrote)");
    }
    if (!found.group(1).equals(config.cluster().id())) {
      throw new IOException(
          "cluster.directory: \""
              + path
              + "\" belongs to the cluster "
              + found.group(1)
              + " (expected: cluster.id, "
              + config.cluster().id()
              + ")");
    }
    if (!config.bus().generated() && !found.group(2).equals(config.bus().name())) {
      throw new IOException(
          "cluster.directory: \""
              + path
              + "\" belongs to the bus "
              + found.group(2)
              + " (expected: bus.name, "
              + config.bus().name()
              + ")");
    }
    return new BusDirectory(path, found.group(2));
  }

  Path registry() {
    return path.resolve("registry");
  }
}
