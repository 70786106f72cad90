package io.eventbus.raft;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys.Log;
import org.apache.ratis.server.RaftServerConfigKeys.Rpc;
import org.apache.ratis.server.RaftServerConfigKeys.Snapshot;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** Settings of Ratis; docs/adr/0011a-registry-on-ratis-measured.md says what each is for. */
final class RaftSettings {
  /** Maximum bytes of log entries in one message to a follower. */
  static final int APPEND_BYTES = 1 << 20;

  private RaftSettings() {}

  static RaftProperties of(RatisServer.Options options) {
    RaftProperties p = new RaftProperties();
    File storage = options.directory().toFile();
    RaftServerConfigKeys.setStorageDir(p, List.of(storage));
    RaftServerConfigKeys.setRemovedGroupsDir(p, new File(storage, "removed-groups"));

    Rpc.setTimeoutMin(p, millis(options.electionTimeoutMin()));
    Rpc.setTimeoutMax(p, millis(options.electionTimeoutMax()));
    Rpc.setSleepTime(p, TimeDuration.valueOf(25, TimeUnit.MILLISECONDS));
    // A leader that has lost its majority stands again as soon as any other voter, not after 10 s.
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(
        p, millis(options.electionTimeoutMax()));
    // After a sleep of the machine or a stop of the process it goes on; Ratis would end itself.
    RaftServerConfigKeys.setCloseThreshold(p, TimeDuration.valueOf(3_650, TimeUnit.DAYS));

    // An entry counts when it is on the disk.
    Log.setUnsafeFlushEnabled(p, false);
    Log.setAsyncFlushEnabled(p, false);
    Log.setLogMetadataEnabled(p, false);
    Log.setAppendEntriesComposeEnabled(p, false);
    Log.setSegmentSizeMax(p, SizeInBytes.valueOf("8MB"));
    Log.setPreallocatedSize(p, SizeInBytes.valueOf("1MB"));
    Log.setWriteBufferSize(p, SizeInBytes.valueOf("2MB"));
    Log.setSegmentCacheNumMax(p, 2);
    Log.Appender.setBufferByteLimit(p, SizeInBytes.valueOf(APPEND_BYTES));
    Log.Appender.setSnapshotChunkSizeMax(p, SizeInBytes.valueOf("1MB"));
    Log.Appender.setWaitTimeMin(p, TimeDuration.ZERO);
    // A bus that is away must not keep the log of the others from being cut; it gets a snapshot.
    Log.setPurgeUptoSnapshotIndex(p, true);
    Log.setPurgePreservationLogNum(p, Math.min(1_024, options.snapshotEntries()));
    Log.setPurgeGap(p, Math.min(1_024, options.snapshotEntries()));

    Snapshot.setAutoTriggerEnabled(p, true);
    Snapshot.setAutoTriggerThreshold(p, options.snapshotEntries());
    Snapshot.setTriggerWhenStopEnabled(p, false);
    Snapshot.setRetentionFileNum(p, 2);

    // Repetitions are recognized by the state machine; Ratis need not remember them.
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, TimeDuration.valueOf(2, TimeUnit.SECONDS));
    return p;
  }

  private static TimeDuration millis(Duration duration) {
    return TimeDuration.valueOf(duration.toMillis(), TimeUnit.MILLISECONDS);
  }
}
