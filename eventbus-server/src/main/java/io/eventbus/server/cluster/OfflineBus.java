package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.ratis.disk.OfflineRegistry;
import io.eventbus.registry.ratis.disk.OfflineRegistry.Founded;
import io.eventbus.registry.ratis.disk.OfflineRegistry.Survivor;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Operators' actions on the directory of a bus that does not run. Everything waits for the disk;
 * any thread, one call at a time for a directory.
 */
public final class OfflineBus {
  private OfflineBus() {}

  /** Returns the directory in which a bus with this configuration keeps its data. */
  public static Path directory(ServerConfig config) {
    return config.cluster().dataDirectory().toAbsolutePath().normalize();
  }

  /**
   * Founds a new cluster from a backup, in the directory of its first bus.
   *
   * @throws IOException if the backup is damaged or the directory is not empty, with the reason
   */
  public static Founded restore(ServerConfig config, Path backup) throws IOException {
    Path directory = directory(config);
    if (Files.exists(directory) && !isEmpty(directory)) {
      throw new IOException(
          "cluster.directory: \""
              + directory
              + "\" is not empty (expected: empty, or not there; nothing was changed)");
    }
    Founded founded =
        OfflineRegistry.restore(
            backup, directory.resolve("registry"), new BusId(config.bus().name()));
    BusDirectory.open(config);
    return founded;
  }

  /**
   * Reads what a bus holds of the registry, and changes nothing.
   *
   * @throws IOException if the bus runs, or the directory is damaged or none, with the reason
   */
  public static Survivor inspect(ServerConfig config) throws IOException {
    return OfflineRegistry.inspect(directory(config).resolve("registry"));
  }

  /**
   * Makes a bus the only voter of a new cluster with what it holds of the old one.
   *
   * @throws IOException if the bus runs, or the directory is damaged or another one now, with the
   *     reason
   */
  public static Founded recover(ServerConfig config, Survivor survivor) throws IOException {
    return OfflineRegistry.recover(directory(config).resolve("registry"), survivor.cluster());
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.findAny().isEmpty();
    }
  }
}
