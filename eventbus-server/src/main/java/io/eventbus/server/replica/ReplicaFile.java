package io.eventbus.server.replica;

import io.eventbus.base.SyncedFile;
import io.eventbus.journal.ratis.ShardMember;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Content of the file {@code replica} in the data directory of a bus in a cluster: whose directory
 * it is, and the replicas of the journals with their addresses, so that the bus can open its own
 * before it has found the others.
 *
 * @param bus the name of the bus
 * @param generation a random number that the directory got when it was new. A bus that has lost its
 *     files has another one, so it is not taken for the replica that it was
 * @param cluster the cluster of the replicas; null before there are any
 * @param opened whether the replica was open once: from then on its files must not be missing
 * @param ready whether it was ready once: from then on the bus knows journals, and may serve
 *     without the others
 * @param members the replicas; empty before there are any
 */
record ReplicaFile(
    String bus,
    int generation,
    @Nullable UUID cluster,
    boolean opened,
    boolean ready,
    List<ShardMember> members) {
  private static final String FORMAT = "eventbus replica 1";
  private static final String EXPECTED = " (expected: a file that a bus wrote)";
  private static final int MAX_BYTES = 1 << 20;

  ReplicaFile {
    members = List.copyOf(members);
  }

  static Path path(Path directory) {
    return directory.resolve("replica");
  }

  /**
   * Reads the file of a directory, and writes that of a new one.
   *
   * @throws IOException if it cannot be used, or is another bus's; names problem and place
   */
  static ReplicaFile open(Path directory, String bus) throws IOException {
    Path file = path(directory);
    if (Files.exists(directory.resolve("cluster"))) {
      throw new IOException(
          directory
              + ": has the journals of a bus that was in no cluster (expected: a new directory,"
              + " because they cannot be taken along)");
    }
    if (!Files.exists(file)) {
      if (Files.exists(directory.resolve("shards"))) {
        throw new IOException(
            file
                + ": missing, but "
                + directory.resolve("shards")
                + " is there (expected: both or none)");
      }
      SyncedFile.createDirectories(directory);
      ReplicaFile created =
          new ReplicaFile(
              bus,
              1 + new SecureRandom().nextInt(Integer.MAX_VALUE - 1),
              null,
              false,
              false,
              List.of());
      created.write(directory);
      return created;
    }
    ReplicaFile found = read(file);
    if (!found.bus.equals(bus)) {
      throw new IOException(
          file + ": the directory of bus " + found.bus + " (expected: bus " + bus + ")");
    }
    Path identity = directory.resolve("shards").resolve("shards").resolve("1").resolve("identity");
    if (found.opened && !Files.exists(identity)) {
      throw new IOException(identity + ": missing (expected: the replica of " + file + ")");
    }
    return found;
  }

  /** Checks that a directory is not that of a bus in a cluster. */
  static void checkNone(Path directory) throws IOException {
    Path file = path(directory);
    if (Files.exists(file)) {
      throw new IOException(
          file
              + ": the directory of bus "
              + read(file).bus
              + " in a cluster (expected: cluster.join, or another durable.directory)");
    }
  }

  private static ReplicaFile read(Path file) throws IOException {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new IllegalArgumentException("size: " + Files.size(file));
      }
      List<String> lines = Files.readAllLines(file);
      if (!lines.get(0).equals(FORMAT)) {
        throw new IllegalArgumentException("format: " + lines.get(0));
      }
      String bus = value(lines.get(1), "bus");
      int generation = Integer.parseInt(value(lines.get(2), "generation"));
      if (lines.size() == 3) {
        return new ReplicaFile(bus, generation, null, false, false, List.of());
      }
      UUID cluster = UUID.fromString(value(lines.get(3), "cluster"));
      boolean opened = Boolean.parseBoolean(value(lines.get(4), "opened"));
      boolean ready = Boolean.parseBoolean(value(lines.get(5), "ready"));
      List<ShardMember> members = new ArrayList<>();
      for (String line : lines.subList(6, lines.size())) {
        String[] parts = value(line, "member").split(" ", -1);
        members.add(new ShardMember(parts[0], parts[1], Boolean.parseBoolean(parts[2])));
      }
      return new ReplicaFile(bus, generation, cluster, opened, ready, members);
    } catch (IndexOutOfBoundsException | IllegalArgumentException | CharacterCodingException e) {
      throw new IOException(file + ": unreadable" + EXPECTED, e);
    }
  }

  private static String value(String line, String key) {
    if (!line.startsWith(key + " ")) {
      throw new IllegalArgumentException("line: " + line);
    }
    return line.substring(key.length() + 1);
  }

  /** Returns the id of the replica of this bus. */
  String member() {
    return ShardMember.id(bus, generation);
  }

  /** Returns a copy with the replicas of the journals. */
  ReplicaFile with(UUID of, boolean open, List<ShardMember> all) {
    return new ReplicaFile(bus, generation, of, open, ready, all);
  }

  /** Returns a copy of a replica that was ready. */
  ReplicaFile whenReady() {
    return new ReplicaFile(bus, generation, cluster, opened, true, members);
  }

  /** Writes the file anew: all of it or nothing is there after a crash. */
  void write(Path directory) throws IOException {
    List<String> lines = new ArrayList<>(List.of(FORMAT, "bus " + bus, "generation " + generation));
    if (cluster != null) {
      lines.add("cluster " + cluster);
      lines.add("opened " + opened);
      lines.add("ready " + ready);
      for (ShardMember member : members) {
        lines.add("member " + member.id() + " " + member.address() + " " + member.voter());
      }
    }
    SyncedFile.write(path(directory), String.join("\n", lines) + "\n");
  }
}
