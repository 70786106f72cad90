package io.eventbus.registry.ratis.disk;

import io.eventbus.raft.SnapshotFiles;
import io.eventbus.raft.repair.OfflineLogReader;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.SnapshotFormat;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;

/** Registry in snapshot files and in the entries of a log. */
public final class RegistryFiles {
  /** Snapshots of the registry. */
  public static final SnapshotFiles<RegistryState> SNAPSHOTS =
      new SnapshotFiles<>(
          new SnapshotFiles.Format<>() {
            @Override
            public RegistryState read(InputStream in) throws IOException {
              return SnapshotFormat.read(in);
            }

            @Override
            public void write(RegistryState state, OutputStream out) throws IOException {
              SnapshotFormat.write(state, out);
            }
          });

  static final OfflineLogReader.Replay<RegistryState> REPLAY =
      new OfflineLogReader.Replay<>() {
        @Override
        public RegistryState read(SingleFileSnapshotInfo snapshot) throws IOException {
          return SNAPSHOTS.read(snapshot);
        }

        @Override
        public RegistryState apply(RegistryState state, ByteBuffer entry) throws IOException {
          RegistryState next = state;
          for (TimedCommand command : RegistryCodec.decodeBatch(entry)) {
            next = StateMachine.apply(next, command).state();
          }
          return next;
        }
      };

  private RegistryFiles() {}
}
