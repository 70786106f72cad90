package io.eventbus.registry.ratis;

import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
 * What a stopped bus holds: its newest snapshot and every entry of its log behind that, also those
 * of which it never heard that they were committed. An acknowledged command is in it if this bus
 * has written it; one that was never acknowledged may be in it too.
 *
 * @param state the registry after the last entry
 * @param last the last entry
 * @param voters the last known voters
 * @param listeners the last known listeners
 */
record SurvivingState(
    RegistryState state, TermIndex last, List<String> voters, List<String> listeners) {
  private static final SizeInBytes MAX_ENTRY = SizeInBytes.valueOf("64MB");

  /** Reads the files of one cluster. The caller holds the lock of the directory. */
  static SurvivingState read(Path files, RegistryState empty) throws IOException {
    Reader reader = new Reader(empty);
    try (RaftStorage storage =
        StorageImplUtils.newRaftStorage(
            files.toFile(), SizeInBytes.ZERO, StartupOption.RECOVER, CorruptionPolicy.EXCEPTION)) {
      storage.initialize();
      SimpleStateMachineStorage snapshots = new SimpleStateMachineStorage();
      snapshots.init(storage);
      reader.configuration(files.resolve("current/raft-meta.conf"));
      SingleFileSnapshotInfo snapshot = snapshots.loadLatestSnapshot();
      if (snapshot != null) {
        reader.begin(SnapshotFiles.read(snapshot), snapshot.getTermIndex());
      }
      for (LogSegmentPath segment : LogSegmentPath.getLogSegmentPaths(storage)) {
        // The end of the segment that was being written may be torn: it was never acknowledged.
        LogSegment.readSegmentFile(
            segment.getPath().toFile(),
            segment.getStartEnd(),
            MAX_ENTRY,
            segment.getPath().getFileName().toString().startsWith("log_inprogress_")
                ? CorruptionPolicy.WARN_AND_RETURN
                : CorruptionPolicy.EXCEPTION,
            null,
            reader::add);
      }
    }
    return reader.result(files);
  }

  private static final class Reader {
    private RegistryState state;
    private TermIndex last = TermIndex.valueOf(0, -1);
    private List<String> voters = List.of();
    private List<String> listeners = List.of();
    private @Nullable String error;

    Reader(RegistryState empty) {
      this.state = empty;
    }

    void begin(RegistryState snapshot, TermIndex at) {
      state = snapshot;
      last = at;
    }

    void configuration(Path file) throws IOException {
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

    /** The engine's reader lets no checked exception through: the first error is kept. */
    void add(LogEntryProto entry) {
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
        for (TimedCommand command :
            RegistryCodec.decodeBatch(
                entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer())) {
          state = StateMachine.apply(state, command).state();
        }
      } catch (RegistryFormatException e) {
        error = "entry " + entry.getIndex() + " of the log: " + e.getMessage();
      }
    }

    SurvivingState result(Path files) throws IOException {
      if (error != null) {
        throw new RegistryFormatException("log in " + files + ": " + error);
      }
      return new SurvivingState(state, last, voters, listeners);
    }
  }
}
