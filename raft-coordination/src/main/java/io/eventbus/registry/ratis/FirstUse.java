package io.eventbus.registry.ratis;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.SnapshotFormat;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes once through what a bus that joins needs later, on a thread beside the one that looks for
 * the others: the classes of the formats and of the engine's messages are loaded then, and not
 * while the leader waits for the first answers. Nothing is kept.
 */
final class FirstUse implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(FirstUse.class);

  // What does not load here fails where it is needed, with somebody to tell.
  @SuppressWarnings("CatchingUnchecked")
  @Override
  public void run() {
    try {
      go();
    } catch (Exception | LinkageError e) {
      log.debug("Not everything could be used beforehand", e);
    }
  }

  /** In the order in which it will be needed. */
  static void go() throws IOException {
    long startNanos = System.nanoTime();
    // The engine registers itself there.
    ManagementFactory.getPlatformMBeanServer();
    append();
    snapshot();
    command();
    log.debug("Used beforehand in {} ms", (System.nanoTime() - startNanos) / 1_000_000);
  }

  /** An entry of the log on its way from the leader. */
  private static void append() throws IOException {
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder().setLogData(ByteString.EMPTY))
            .build();
    AppendEntriesRequestProto.parseFrom(
        AppendEntriesRequestProto.newBuilder().addEntries(entry).build().toByteArray());
    AppendEntriesReplyProto.parseFrom(AppendEntriesReplyProto.getDefaultInstance().toByteArray());
  }

  /** A snapshot on its way from the leader, and the members that come with it. */
  private static void snapshot() throws IOException {
    LogEntryProto members =
        LogEntryProto.newBuilder()
            .setConfigurationEntry(
                RaftConfigurationProto.newBuilder()
                    .addPeers(RaftPeerProto.newBuilder().setAddress("")))
            .build();
    InstallSnapshotRequestProto.parseFrom(
        InstallSnapshotRequestProto.newBuilder()
            .setSnapshotChunk(
                SnapshotChunkProto.newBuilder()
                    .addFileChunks(FileChunkProto.newBuilder().setData(ByteString.EMPTY)))
            .setLastRaftConfigurationLogEntryProto(members)
            .build()
            .toByteArray());
    InstallSnapshotReplyProto.parseFrom(
        InstallSnapshotReplyProto.getDefaultInstance().toByteArray());
    // The engine makes this text whether it is logged or not.
    ProtoUtils.shortDebugString(members);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(RegistryState.empty(RegistryLimits.DEFAULT, 1), out);
    SnapshotFormat.read(new ByteArrayInputStream(out.toByteArray()));
  }

  /** A command on its way to the leader, as an entry of the log, and its result. */
  private static void command() throws IOException {
    BusCommand command = new BusCommand.RenewLease(new BusId("first-use"), 1, 1_000);
    CommandId id = new CommandId(0, 0, 0);
    TimedCommand timed =
        RegistryCodec.decodeCommand(ByteBuffer.wrap(RegistryCodec.encodeCommand(id, command)));
    byte[] entry = RegistryCodec.encodeBatch(List.of(timed));
    RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
    for (TimedCommand read : RegistryCodec.decodeBatch(ByteBuffer.wrap(entry))) {
      Applied applied = StateMachine.apply(state, read);
      CommandResult result = applied.result();
      RegistryCodec.decodeResult(ByteBuffer.wrap(RegistryCodec.encodeResult(result)));
    }
  }
}
