package io.eventbus.raft.repair;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.server.storage.StorageImplUtils;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;

/**
 * Reader of the files of a stopped member: its newest snapshot and every entry of its log behind
 * that, also those of which it never heard that they were committed. An acknowledged entry is in it
 * if this member has written it; one that was never acknowledged may be in it too.
 *
 * <p>The gap: Ratis reads its files only to start. These are its own classes for that, which are
 * public but no part of its interface. No upstream ticket is known.
 *
 * <p>Remove when Ratis can open a group's files for reading.
 */
public final class OfflineLogReader<S> {
  private static final SizeInBytes MAX_ENTRY = SizeInBytes.valueOf("64MB");

  /** Builder of a state from the content of the files. */
  public interface Replay<S> {
    /** Returns the state of a snapshot. */
    S read(SingleFileSnapshotInfo snapshot) throws IOException;

    /** Returns the state after an entry. */
    S apply(S state, ByteBuffer entry) throws IOException;
  }

  /**
   * Result.
   *
   * @param state the state after the last entry
   */
  public record Found<S>(S state, TermIndex last, List<String> voters, List<String> listeners) {}

  private final Replay<S> replay;
  private S state;
  private TermIndex last = TermIndex.valueOf(0, -1);
  private List<String> voters = List.of();
  private List<String> listeners = List.of();
  private @Nullable String error;

  private OfflineLogReader(Replay<S> replay, S empty) {
    this.replay = replay;
    this.state = empty;
  }

  /** Reads the files of one group. The caller holds the lock of the directory. */
  public static <S> Found<S> read(Path files, S empty, Replay<S> replay) throws IOException {
    OfflineLogReader<S> reader = new OfflineLogReader<>(replay, empty);
    try (RaftStorage storage = open(files)) {
      SimpleStateMachineStorage snapshots = new SimpleStateMachineStorage();
      snapshots.init(storage);
      reader.configuration(files.resolve("current/raft-meta.conf"));
      SingleFileSnapshotInfo snapshot = snapshots.loadLatestSnapshot();
      if (snapshot != null) {
        reader.state = replay.read(snapshot);
        reader.last = snapshot.getTermIndex();
      }
      for (LogSegmentPath segment : LogSegmentPath.getLogSegmentPaths(storage)) {
        read(segment, reader::add);
      }
    }
    return reader.result(files);
  }

  /**
   * Returns the index of the last entry of the log of one group; -1 for none. The caller holds the
   * lock of the directory.
   *
   * @param files the directory of the group
   */
  public static long lastIndex(Path files) throws IOException {
    try (RaftStorage storage = open(files)) {
      List<LogSegmentPath> segments = LogSegmentPath.getLogSegmentPaths(storage);
      long[] last = {-1};
      // The newest may have been opened for an entry that never came.
      for (int i = segments.size() - 1; i >= 0 && last[0] < 0; i--) {
        read(segments.get(i), entry -> last[0] = entry.getIndex());
      }
      return last[0];
    }
  }

  private static RaftStorage open(Path files) throws IOException {
    RaftStorage storage =
        StorageImplUtils.newRaftStorage(
            files.toFile(), SizeInBytes.ZERO, StartupOption.RECOVER, CorruptionPolicy.EXCEPTION);
    storage.initialize();
    return storage;
  }

  private static void read(LogSegmentPath segment, Consumer<LogEntryProto> entries)
      throws IOException {
    int unused =
        LogSegment.readSegmentFile(
            segment.getPath().toFile(),
            segment.getStartEnd(),
            MAX_ENTRY,
            segment.getPath().getFileName().toString().startsWith("log_inprogress_")
                ? CorruptionPolicy.WARN_AND_RETURN
                : CorruptionPolicy.EXCEPTION,
            null,
            entries);
  }

  private void configuration(Path file) throws IOException {
    if (Files.isRegularFile(file)) {
      try (InputStream in = Files.newInputStream(file)) {
        members(LogEntryProto.parseFrom(in).getConfigurationEntry());
      }
    }
  }

  private void members(RaftConfigurationProto configuration) {
    voters = ids(configuration.getPeersList());
    listeners = ids(configuration.getListenersList());
  }

  private static List<String> ids(List<RaftPeerProto> peers) {
    List<String> ids = new ArrayList<>();
    for (RaftPeerProto peer : peers) {
      ids.add(RaftPeerId.valueOf(peer.getId()).toString());
    }
    ids.sort(null);
    return List.copyOf(ids);
  }

  /**
   * Adds an entry. The caller, Ratis, lets no checked exception through: the first error is kept.
   */
  private void add(LogEntryProto entry) {
    if (error != null || entry.getIndex() <= last.getIndex()) {
      return;
    }
    if (entry.getIndex() != last.getIndex() + 1) {
      error = "entry " + entry.getIndex() + " of the log follows entry " + last.getIndex();
      return;
    }
    if (entry.hasConfigurationEntry()) {
      members(entry.getConfigurationEntry());
    } else if (entry.hasStateMachineLogEntry()) {
      apply(entry);
    }
    last = TermIndex.valueOf(entry);
  }

  private void apply(LogEntryProto entry) {
    try {
      state =
          replay.apply(state, entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
    } catch (IOException e) {
      error = "entry " + entry.getIndex() + " of the log: " + e.getMessage();
    }
  }

  private Found<S> result(Path files) throws IOException {
    if (error != null) {
      throw new IOException("log in " + files + ": " + error);
    }
    return new Found<>(state, last, voters, listeners);
  }
}
