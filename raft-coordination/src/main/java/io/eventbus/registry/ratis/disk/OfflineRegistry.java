package io.eventbus.registry.ratis.disk;

import io.eventbus.raft.repair.BootstrapSnapshotFiles;
import io.eventbus.raft.repair.DurableFiles;
import io.eventbus.raft.repair.OfflineLogReader;
import io.eventbus.registry.BusId;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.codec.BackupFormat;
import io.eventbus.registry.state.NewIncarnation;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Operations for operators on the data directory of a bus that does not run. Any thread; one call
 * at a time for a directory, which is locked meanwhile. Everything waits for the disk.
 *
 * <p>Both ways out of a disaster found a <em>new</em> cluster with one voter. Members of the old
 * one can neither join it nor speak to it with the data on their disks, so that no two histories
 * get mixed; they come back with empty directories.
 */
public final class OfflineRegistry {
  private OfflineRegistry() {}

  /**
   * Content of a data directory.
   *
   * @param registry the registry after the last entry
   */
  public record Survivor(
      String cluster,
      BusId bus,
      long term,
      long index,
      List<String> voters,
      List<String> listeners,
      RegistrySnapshot registry) {
    /** Copies the lists. */
    public Survivor {
      voters = List.copyOf(voters);
      listeners = List.copyOf(listeners);
    }
  }

  /**
   * New cluster, to be started with this directory.
   *
   * @param bus its first bus, the only voter
   * @param registry its registry; every bus in it is DOWN until it registers again
   * @param kept the present place of the former cluster's files; empty for nowhere
   */
  public record Founded(
      String cluster, BusId bus, String formerCluster, RegistrySnapshot registry, String kept) {}

  /**
   * Reads the data of a bus, and changes nothing.
   *
   * @throws IOException if the bus runs, or the directory is damaged or none, saying so
   */
  public static Survivor inspect(Path directory) throws IOException {
    try (DataDirectory opened = DataDirectory.openUsed(directory)) {
      return survivor(opened, read(directory, opened));
    }
  }

  /**
   * Makes a bus the only voter of a new cluster with its data of the old one, whose majority is
   * lost. Commands that other buses had acknowledged and this one has not on its disk are lost with
   * them.
   *
   * <p>The old files are kept beside the new ones. If it is interrupted the bus does not start, and
   * doing it again does the rest.
   *
   * @param directory the data directory of the bus, which does not run
   * @param confirmation the id of the cluster, so that this is not done by accident
   * @throws IOException if the bus runs, the confirmation is wrong, or the directory is damaged or
   *     none, saying so; nothing is changed then
   */
  public static Founded recover(Path directory, String confirmation) throws IOException {
    try (DataDirectory opened = DataDirectory.openUsed(directory)) {
      DataDirectory.Marker marker = marker(opened);
      if (!marker.cluster().toString().equals(confirmation)) {
        throw new IOException(
            "confirmation: "
                + confirmation
                + " (expected: "
                + marker.cluster()
                + ", the id of the cluster that is given up)");
      }
      undo(directory, marker);
      RegistryState state = NewIncarnation.of(read(directory, opened).state());
      UUID cluster = UUID.randomUUID();
      Path fresh = directory.resolve("engine.new");
      delete(fresh);
      write(fresh, cluster, marker.bus(), state);
      Path kept = former(directory, marker);
      Files.move(opened.engine(), kept, StandardCopyOption.ATOMIC_MOVE);
      DurableFiles.syncDirectory(directory);
      Files.move(fresh, opened.engine(), StandardCopyOption.ATOMIC_MOVE);
      opened.mark(new DataDirectory.Marker(cluster, marker.bus(), false, true));
      return new Founded(
          cluster.toString(),
          marker.bus(),
          marker.cluster().toString(),
          state.snapshot(),
          kept.toString());
    }
  }

  /**
   * Founds a new cluster from a backup.
   *
   * @param directory the data directory of its first bus; empty, or not there
   * @throws IOException if the backup is damaged or the directory is not empty, saying so
   */
  public static Founded restore(Path backup, Path directory, BusId bus) throws IOException {
    if (Files.exists(directory) && !isEmpty(directory)) {
      throw new IOException(
          "data directory " + directory + ": not empty (expected: empty, or not there)");
    }
    BackupFormat.Content content = BackupFormat.read(backup);
    RegistryState state = NewIncarnation.of(content.state());
    UUID cluster = UUID.randomUUID();
    try (DataDirectory opened = DataDirectory.open(directory, bus)) {
      Path fresh = directory.resolve("engine.new");
      write(fresh, cluster, bus, state);
      Files.move(fresh, opened.engine(), StandardCopyOption.ATOMIC_MOVE);
      opened.mark(new DataDirectory.Marker(cluster, bus, false, true));
    }
    return new Founded(
        cluster.toString(), bus, content.description().cluster(), state.snapshot(), "");
  }

  private static void write(Path fresh, UUID cluster, BusId bus, RegistryState state)
      throws IOException {
    BootstrapSnapshotFiles.write(
        fresh,
        cluster,
        bus.value(),
        (storage, at) -> RegistryFiles.SNAPSHOTS.write(storage, state, at));
  }

  private static Survivor survivor(
      DataDirectory opened, OfflineLogReader.Found<RegistryState> found) {
    DataDirectory.Marker marker = marker(opened);
    return new Survivor(
        marker.cluster().toString(),
        marker.bus(),
        found.last().getTerm(),
        found.last().getIndex(),
        found.voters(),
        found.listeners(),
        found.state().snapshot());
  }

  private static DataDirectory.Marker marker(DataDirectory opened) {
    DataDirectory.Marker marker = opened.marker();
    if (marker == null) {
      throw new IllegalStateException("a used directory has a marker");
    }
    return marker;
  }

  private static OfflineLogReader.Found<RegistryState> read(Path directory, DataDirectory opened)
      throws IOException {
    DataDirectory.Marker marker = marker(opened);
    Path engine = opened.engine();
    if (Files.exists(former(directory, marker))) {
      engine = former(directory, marker);
    }
    Path files = engine.resolve(marker.cluster().toString());
    if (!Files.isRegularFile(files.resolve("current/raft-meta"))) {
      throw new IOException(
          "data directory "
              + directory
              + ": the engine's files are missing (expected: "
              + files
              + ")");
    }
    return OfflineLogReader.read(
        files, RegistryState.empty(RegistryLimits.DEFAULT, 1), RegistryFiles.REPLAY);
  }

  /** Returns the place where the files of the abandoned cluster are kept. */
  private static Path former(Path directory, DataDirectory.Marker marker) {
    return directory.resolve("engine." + marker.cluster());
  }

  /** Undoes a recovery that was interrupted before the marker was written. */
  private static void undo(Path directory, DataDirectory.Marker marker) throws IOException {
    Path former = former(directory, marker);
    if (Files.exists(former)) {
      delete(directory.resolve("engine"));
      Files.move(former, directory.resolve("engine"), StandardCopyOption.ATOMIC_MOVE);
      DurableFiles.syncDirectory(directory);
    }
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.findAny().isEmpty();
    }
  }

  private static void delete(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    List<Path> all;
    try (Stream<Path> paths = Files.walk(tree)) {
      all = paths.sorted((a, b) -> b.compareTo(a)).toList();
    }
    for (Path path : all) {
      Files.delete(path);
    }
  }
}
