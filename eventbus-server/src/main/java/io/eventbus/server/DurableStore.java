package io.eventbus.server;

import io.eventbus.base.SyncedFile;
import io.eventbus.journal.Journals;
import io.eventbus.journal.ratis.ReplicaListener;
import io.eventbus.journal.ratis.ShardJournals;
import io.eventbus.journal.ratis.ShardOptions;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.server.durable.JournalStore;
import io.eventbus.server.replica.ReplicaStore;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Files of the durable topics of a bus, below its data directory: {@code cluster} names the group
 * of the files, {@code shards} has the events, {@code native} the library of the store.
 */
final class DurableStore implements JournalStore {
  /** Number of the only shard. */
  static final int SHARD = 1;

  // The only member: a bus may get another name.
  private static final String MEMBER = "alone~1";
  private static final int MAX_IDENTITY_BYTES = 64;

  private final StoreResources resources;
  private final ShardJournals journals;

  private DurableStore(StoreResources resources, ShardJournals journals) {
    this.resources = resources;
    this.journals = journals;
  }

  /**
   * Opens the files, and returns when everything that was confirmed can be read.
   *
   * @param listener told what happens to the files from then on
   * @throws IOException if they cannot be used; names problem, place and expectation
   */
  static DurableStore open(Path directory, ReplicaListener listener) throws IOException {
    Path shards = directory.resolve("shards");
    UUID cluster = identity(directory, shards);
    StoreResources resources = StoreResources.open(directory.resolve("native"));
    try {
      return new DurableStore(
          resources,
          ShardJournals.open(
              new ShardOptions(
                  shards, cluster, SHARD, MEMBER, resources, ShardOptions.Tuning.DEFAULT),
              opening -> opening.listen(listener)));
    } catch (IOException | RuntimeException e) {
      resources.close();
      throw e;
    }
  }

  /** Reads the name of the group of the files, which a new directory gets. */
  private static UUID identity(Path directory, Path shards) throws IOException {
    Path file = directory.resolve("cluster");
    if (Files.exists(file)) {
      if (Files.size(file) <= MAX_IDENTITY_BYTES) {
        try {
          return UUID.fromString(Files.readString(file).strip());
        } catch (IllegalArgumentException | CharacterCodingException e) {
          throw new IOException(file + ": unreadable (expected: a UUID)", e);
        }
      }
      throw new IOException(file + ": unreadable (expected: a UUID)");
    }
    ReplicaStore.checkNone(directory);
    if (Files.exists(shards)) {
      throw new IOException(
          file + ": missing, but " + shards + " is there (expected: both or none)");
    }
    SyncedFile.createDirectories(directory);
    UUID created = UUID.randomUUID();
    SyncedFile.write(file, created + "\n");
    return created;
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public void close() {
    journals.close();
    resources.close();
  }
}
