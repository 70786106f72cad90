package io.eventbus.registry.ratis;

import io.eventbus.raft.repair.ClassWarmup;
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
import java.nio.ByteBuffer;
import java.util.List;

/** Warm-up that uses the registry's formats once, see {@link ClassWarmup}. Nothing is kept. */
final class RegistryWarmup {
  private RegistryWarmup() {}

  static void run() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(RegistryState.empty(RegistryLimits.DEFAULT, 1), out);
    SnapshotFormat.read(new ByteArrayInputStream(out.toByteArray()));
    command();
  }

  /** Plays a command on its way to the leader, as an entry of the log, and its result. */
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
