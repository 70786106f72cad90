package io.eventbus.registry.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.CommandResult;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateDiff;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class CodecProperties {
  private static final RegistryLimits SMALL = new RegistryLimits(8, 8, 16);

  @Property(tries = 200)
  void commandsAndResultsComeBackAsTheyWere(@ForAll long seed, @ForAll @IntRange(max = 80) int n)
      throws Exception {
    RandomCommands commands = new RandomCommands(seed);
    RegistryState state = RegistryState.empty(SMALL, 1);
    List<TimedCommand> batch = new ArrayList<>();
    for (int i = 0; i <= n; i++) {
      TimedCommand command = commands.next(state);
      batch.add(command);
      Applied applied = StateMachine.apply(state, command);
      state = applied.state();
      CommandResult result = applied.result();
      assertThat(RegistryCodec.decodeResult(ByteBuffer.wrap(RegistryCodec.encodeResult(result))))
          .isEqualTo(result);
      TimedCommand sent =
          RegistryCodec.decodeCommand(
              ByteBuffer.wrap(RegistryCodec.encodeCommand(command.id(), command.command())));
      assertThat(sent).isEqualTo(new TimedCommand(command.id(), 0, command.command()));
    }
    ByteBuffer bytes = ByteBuffer.wrap(RegistryCodec.encodeBatch(batch));
    assertThat(RegistryCodec.decodeBatch(bytes)).isEqualTo(batch);
    assertThat(bytes.position()).isZero();
  }

  /** Compares a state that comes back, the memory of commands included, with the original. */
  @Property(tries = 200)
  void aStateGoesOnAfterItWasWrittenAndRead(@ForAll long seed, @ForAll @IntRange(max = 120) int n)
      throws Exception {
    RandomCommands commands = new RandomCommands(seed);
    RegistryState state = RegistryState.empty(SMALL, 1);
    List<TimedCommand> log = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      TimedCommand command = commands.next(state);
      log.add(command);
      state = StateMachine.apply(state, command).state();
    }
    RegistryState read = read(write(state));
    assertThat(read).isEqualTo(state);
    for (int i = 0; i < 40; i++) {
      TimedCommand command =
          i < log.size() && i % 2 == 0 ? log.get(log.size() - 1 - i) : commands.next(state);
      Applied here = StateMachine.apply(state, command);
      Applied there = StateMachine.apply(read, command);
      assertThat(there).isEqualTo(here);
      state = here.state();
      read = there.state();
    }
  }

  @Property(tries = 200)
  void theDifferenceLeadsFromOneSnapshotToTheOther(@ForAll long seed) {
    RandomCommands commands = new RandomCommands(seed);
    RegistryState before = RegistryState.empty(SMALL, 1);
    for (int i = 0; i < 30; i++) {
      before = StateMachine.apply(before, commands.next(before)).state();
    }
    assertThat(StateDiff.between(before.snapshot(), before.snapshot())).isEmpty();
    Applied applied = StateMachine.apply(before, commands.next(before));
    assertThat(StateDiff.between(before.snapshot(), applied.state().snapshot()))
        .containsExactlyInAnyOrderElementsOf(applied.changes());
  }

  @Property(tries = 1000)
  void damagedBytesAreRefusedWithOneKindOfError(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    RandomCommands commands = new RandomCommands(seed);
    RegistryState state = RegistryState.empty(SMALL, 1);
    List<TimedCommand> batch = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      batch.add(commands.next(state));
      state = StateMachine.apply(state, batch.get(i)).state();
    }
    byte[] bytes = RegistryCodec.encodeBatch(batch);
    for (int i = 0; i <= random.nextInt(4); i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    try {
      assertThat(RegistryCodec.decodeBatch(ByteBuffer.wrap(bytes))).isNotNull();
    } catch (RegistryFormatException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
    byte[] snapshot = write(state);
    int at = random.nextInt(snapshot.length);
    byte was = snapshot[at];
    snapshot[at] = (byte) (was ^ (1 << random.nextInt(8)));
    try {
      read(snapshot);
      throw new AssertionError("a damaged snapshot was believed, byte " + at);
    } catch (RegistryFormatException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
  }

  static byte[] write(RegistryState state) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(state, out);
    return out.toByteArray();
  }

  static RegistryState read(byte[] bytes) throws IOException {
    return SnapshotFormat.read(new ByteArrayInputStream(bytes));
  }
}
