package io.eventbus.journal.ratis;

import io.eventbus.journal.codec.Entry;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys.Log;
import org.apache.ratis.server.RaftServerConfigKeys.Rpc;
import org.apache.ratis.server.RaftServerConfigKeys.Snapshot;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** Settings of Ratis for the logs of shards. */
final class ShardProperties {
  /**
   * Maximum size of an entry with what Ratis adds to it. Part of the format: a log that was written
   * under a greater one cannot be read under this.
   */
  private static final int MAX_LOG_ENTRY_BYTES = Entry.MAX_BYTES + (64 << 10);

  private ShardProperties() {}

  /** Returns the settings of the only voter, which waits for no other. */
  static RaftProperties ofSingleVoter(Path directory) {
    RaftProperties p = of(directory);
    RaftConfigKeys.Rpc.setType(p, new SingleVoterRpcType());
    Rpc.setTimeoutMin(p, millis(100));
    Rpc.setTimeoutMax(p, millis(200));
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
        p, TimeDuration.valueOf(1, TimeUnit.DAYS));
    return p;
  }

  /** Returns the settings of one replica of several. */
  static RaftProperties ofReplica(Path directory, ShardOptions.Tuning tuning) {
    RaftProperties p = of(directory);
    Rpc.setTimeoutMin(p, millis(tuning.electionTimeoutMin().toMillis()));
    Rpc.setTimeoutMax(p, millis(tuning.electionTimeoutMax().toMillis()));
    Rpc.setSleepTime(p, millis(25));
    // A leader that has lost its majority stands again as soon as any other voter, not after 10 s.
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
        p, millis(tuning.electionTimeoutMax().toMillis()));
    Log.setAppendEntriesComposeEnabled(p, false);
    Log.Appender.setWaitTimeMin(p, TimeDuration.ZERO);
    return p;
  }

  private static RaftProperties of(Path directory) {
    RaftProperties p = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(p, List.of(directory.toFile()));
    RaftServerConfigKeys.setRemovedGroupsDir(p, directory.resolve("removed-groups").toFile());

    // After a sleep of the machine or a stop of the process it goes on; Ratis would end itself.
    RaftServerConfigKeys.setCloseThreshold(p, TimeDuration.valueOf(3_650, TimeUnit.DAYS));

    // An entry counts when it is on the disk.
    Log.setUnsafeFlushEnabled(p, false);
    Log.setAsyncFlushEnabled(p, false);
    Log.setLogMetadataEnabled(p, false);
    // Entries stay on the heap while their segment is open or cached.
    Log.setSegmentSizeMax(p, SizeInBytes.valueOf("8MB"));
    Log.setSegmentCacheNumMax(p, 1);
    // Ratis fills with zeros what it preallocates, and the disk writes these, too: with 1 MiB and
    // more it wrote a quarter more, and was not faster.
    Log.setPreallocatedSize(p, SizeInBytes.valueOf("16KB"));
    Log.setWriteBufferSize(p, SizeInBytes.valueOf(MAX_LOG_ENTRY_BYTES + 8L));
    Log.Appender.setBufferByteLimit(p, SizeInBytes.valueOf(MAX_LOG_ENTRY_BYTES));
    // The state machine keeps what members lack.
    Log.setPurgeUptoSnapshotIndex(p, true);
    Log.setPurgePreservationLogNum(p, 0);
    Log.setPurgeGap(p, 1);

    // The snapshot is the part of the store on its disk; a flush asks for the log to be cut.
    Snapshot.setAutoTriggerEnabled(p, false);
    Snapshot.setTriggerWhenStopEnabled(p, false);

    // Repetitions are recognized by the rules; Ratis need not remember them.
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, TimeDuration.valueOf(2, TimeUnit.SECONDS));
    return p;
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }
}
