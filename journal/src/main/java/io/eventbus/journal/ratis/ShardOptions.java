package io.eventbus.journal.ratis;

import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.StoreResources;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a shard at this bus.
 *
 * @param directory directory in which all shards of the bus have theirs
 * @param cluster the cluster of the bus
 * @param shard number of the shard, 1 or more
 * @param member the replica: bus and generation, as {@code bus~1}
 * @param replicas all replicas; null if this is the only one
 * @param resources memory that all stores of the process share; not closed with the shard
 * @param tuning {@link Tuning#DEFAULT} but in tests
 */
public record ShardOptions(
    Path directory,
    UUID cluster,
    int shard,
    String member,
    @Nullable ShardReplicas replicas,
    StoreResources resources,
    Tuning tuning) {
  /**
   * Checks the members.
   *
   * @throws IllegalArgumentException if the replica is none of them
   */
  public ShardOptions {
    if (replicas != null) {
      ShardMember unused = replicas.member(member);
    }
  }

  /** Creates settings of a shard with one replica. */
  public ShardOptions(
      Path directory,
      UUID cluster,
      int shard,
      String member,
      StoreResources resources,
      Tuning tuning) {
    this(directory, cluster, shard, member, null, resources, tuning);
  }

  /**
   * Settings that only tests and measurements change.
   *
   * @param store those of the store
   * @param limits maximum sizes, the same on every member
   * @param maxPendingBytes bytes of what was asked for and is not answered yet, from which on there
   *     is no room
   * @param answerTimeout time after which a caller is told that the outcome is not known
   * @param openTimeout time within which a shard has to be ready: it applies what its log is ahead
   *     of its store
   * @param dutyInterval time between two looks at what is due, such as delayed events
   * @param wallMillis the time of this bus, in milliseconds since the epoch
   * @param electionTimeoutMin minimum time without a leader before a voter stands for election, if
   *     there are several replicas
   * @param electionTimeoutMax maximum of that time
   * @param maxLogBytes size up to which the log is kept for members that lack it
   * @param copyBytesPerSecond rate at which this bus sends copies of its rows to others
   */
  public record Tuning(
      StoreOptions store,
      ShardLimits limits,
      long maxPendingBytes,
      Duration answerTimeout,
      Duration openTimeout,
      Duration dutyInterval,
      LongSupplier wallMillis,
      Duration electionTimeoutMin,
      Duration electionTimeoutMax,
      long maxLogBytes,
      long copyBytesPerSecond) {
    /** Settings of a bus. */
    public static final Tuning DEFAULT =
        new Tuning(
            StoreOptions.DEFAULT,
            ShardLimits.DEFAULT,
            16L << 20,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofMillis(100),
            System::currentTimeMillis,
            Duration.ofMillis(500),
            Duration.ofMillis(1_000),
            4L << 30,
            // Half of a gigabit line, and a sixth of what a disk reads: publishers keep the rest.
            64L << 20);

    /** Checks the bounds. */
    public Tuning {
      if (copyBytesPerSecond < 1) {
        throw new IllegalArgumentException(
            "copyBytesPerSecond: " + copyBytesPerSecond + " (expected: >= 1)");
      }
      if (maxPendingBytes < Entry.MAX_BYTES) {
        throw new IllegalArgumentException(
            "maxPendingBytes: " + maxPendingBytes + " (expected: >= " + Entry.MAX_BYTES + ")");
      }
    }
  }

  /** Returns the Raft group, which follows from cluster and number. */
  UUID group() {
    return UUID.nameUUIDFromBytes((cluster + "/shard/" + shard).getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the shard for messages. */
  String shown() {
    return "shard " + shard + " in " + directory;
  }
}
