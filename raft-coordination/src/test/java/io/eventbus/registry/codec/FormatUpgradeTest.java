package io.eventbus.registry.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.schema.BatchData;
import io.eventbus.registry.schema.CommandData;
import io.eventbus.registry.schema.CreateTopicData;
import io.eventbus.registry.schema.ResultData;
import io.eventbus.registry.schema.SpecData;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.Samples;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.Protocol;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compatibility of formats: every later version reads those of an earlier one, and refuses those of
 * a later one.
 */
class FormatUpgradeTest {

  @Test
  void theFrozenSchemasOfTheCurrentFormatAreTheOnesThatAreCompiledIn() throws Exception {
    // A change here is a change of format: raise CURRENT, add a frozen file, keep the old ones.
    assertThat(Formats.load(Formats.CURRENT)).isEqualTo(Formats.compiled());
  }

  @Test
  void aSnapshotOfFormatOneIsRead() throws Exception {
    try (InputStream in = getClass().getResourceAsStream("snapshot-format-1.bin")) {
      RegistryState state = SnapshotFormat.read(Objects.requireNonNull(in));
      assertThat(state).isEqualTo(golden(1));
      assertThat(state.rememberedCommands()).isEqualTo(20);
    }
  }

  @Test
  void aSnapshotOfFormatTwoIsRead() throws Exception {
    try (InputStream in = getClass().getResourceAsStream("snapshot-format-2.bin")) {
      RegistryState state = SnapshotFormat.read(Objects.requireNonNull(in));
      assertThat(state).isEqualTo(golden(2));
      assertThat(state.snapshot().revocations()).isNotEmpty();
      assertThat(state.snapshot().buses())
          .isNotEmpty()
          .allMatch(bus -> bus.description().storage() == 0);
    }
  }

  @Test
  void aSnapshotOfFormatThreeIsRead() throws Exception {
    try (InputStream in = getClass().getResourceAsStream("snapshot-format-3.bin")) {
      RegistryState state = SnapshotFormat.read(Objects.requireNonNull(in));
      assertThat(state).isEqualTo(golden(3));
      assertThat(state.snapshot().shards()).hasSizeGreaterThan(1);
      assertThat(state.snapshot().buses()).anyMatch(bus -> bus.description().storage() > 1);
    }
  }

  @Test
  void aBackupHasEverything(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("backup");
    RegistryState state = golden(3);
    try (OutputStream out = Files.newOutputStream(file)) {
      BackupFormat.of("", "a", Instant.EPOCH, state).writeTo(out);
    }
    assertThat(BackupFormat.read(file).state()).isEqualTo(state);
  }

  /** Allows a cluster to be upgraded bus by bus. */
  @Test
  void writesFormatOneWherePossible() throws Exception {
    try (InputStream in = getClass().getResourceAsStream("snapshot-format-1.bin")) {
      assertThat(CodecProperties.write(golden(1)))
          .isEqualTo(Objects.requireNonNull(in).readAllBytes());
    }
    Formats earlier = new Formats(Map.of(1, Formats.load(1)));
    RandomCommands commands = new RandomCommands(3, 1);
    RegistryState state = RegistryState.empty(new RegistryLimits(8, 8, 16), 1);
    for (int i = 0; i < 100; i++) {
      TimedCommand command = commands.next(state);
      Applied applied = StateMachine.apply(state, command);
      state = applied.state();
      assertThat(
              earlier.decode(
                  ByteBuffer.wrap(RegistryCodec.encodeBatch(List.of(command))),
                  BatchData.getClassSchema(),
                  BatchData.class))
          .isNotNull();
      assertThat(
              earlier.decode(
                  ByteBuffer.wrap(RegistryCodec.encodeResult(applied.result())),
                  ResultData.getClassSchema(),
                  ResultData.class))
          .isNotNull();
    }
  }

  /** Shows an earlier version that it cannot go on, so that it does not mistake the bytes. */
  @Test
  void newKindsNameTheirFormat() {
    AccountSubject who = new AccountSubject("acme", "u1");
    List<RegistryCommand> commands =
        List.of(
            new RevocationCommand.Revoke(who, 1, 2),
            new RevocationCommand.Lift(who),
            new RevocationCommand.Expire());
    for (RegistryCommand command : commands) {
      CommandId id = new CommandId(1, 2, 3);
      assertThat(RegistryCodec.encodeCommand(id, command)[0]).isEqualTo((byte) 2);
      List<TimedCommand> batch =
          List.of(
              new TimedCommand(id, 4, command),
              new TimedCommand(id, 4, new BusCommand.ExpireLeases()));
      assertThat(RegistryCodec.encodeBatch(batch)[0]).isEqualTo((byte) 2);
    }
    List<CommandResult> results =
        List.of(
            new CommandResult.SubjectRevoked(1, 2, 3),
            new CommandResult.RevocationLifted(1),
            new CommandResult.RevocationsExpired(1, 2),
            new CommandResult.Refused(1, RegistryRefusalReason.UNKNOWN_REVOCATION, ""),
            new CommandResult.Refused(1, RegistryRefusalReason.TOO_MANY_REVOCATIONS, ""),
            new CommandResult.Refused(1, RegistryRefusalReason.BUSES_TOO_OLD, ""));
    for (CommandResult result : results) {
      assertThat(RegistryCodec.encodeResult(result)[0]).isEqualTo((byte) 2);
    }
  }

  /** Keeps an earlier version from reading a shard that it does not know. */
  @Test
  void shardsNameTheirFormat() {
    ShardCommand command =
        new ShardCommand.Place(1, 0, List.of(new ShardReplica(new BusId("a"), 1, true)));
    assertThat(RegistryCodec.encodeCommand(new CommandId(1, 2, 3), command)[0]).isEqualTo((byte) 3);
    for (CommandResult result :
        List.of(
            new CommandResult.ShardPlaced(1),
            new CommandResult.Refused(1, RegistryRefusalReason.STALE_SHARD, ""),
            new CommandResult.Refused(1, RegistryRefusalReason.STORAGE_DIFFERS, ""))) {
      assertThat(RegistryCodec.encodeResult(result)[0]).isEqualTo((byte) 3);
    }
  }

  /** Keeps a bus without a data directory readable for earlier versions, and no other. */
  @Test
  void aDataDirectoryNamesItsFormat() throws Exception {
    CommandId id = new CommandId(1, 2, 3);
    BusCommand.Register without = new BusCommand.Register(Samples.bus("a", "z", 0), 0, 1_000);
    BusCommand.Register with = new BusCommand.Register(Samples.bus("a", "z", 7), 0, 1_000);
    byte[] first = RegistryCodec.encodeCommand(id, without);
    assertThat(first[0]).isEqualTo((byte) 1);
    assertThat(RegistryCodec.decodeCommand(ByteBuffer.wrap(first)).command()).isEqualTo(without);
    byte[] third = RegistryCodec.encodeCommand(id, with);
    assertThat(third[0]).isEqualTo((byte) 3);
    assertThat(RegistryCodec.decodeCommand(ByteBuffer.wrap(third)).command()).isEqualTo(with);
    List<TimedCommand> both =
        List.of(new TimedCommand(id, 4, without), new TimedCommand(id, 4, with));
    byte[] batch = RegistryCodec.encodeBatch(both);
    assertThat(batch[0]).isEqualTo((byte) 3);
    assertThat(RegistryCodec.decodeBatch(ByteBuffer.wrap(batch))).isEqualTo(both);
  }

  /** Reads as a later version does: its schemas have more fields, and it still reads format 1. */
  @Test
  void aLaterVersionReadsWhatThisOneWrites() throws Exception {
    TopicSpec spec = new TopicSpec("a.b", Map.of("k", "v"));
    TimedCommand command =
        new TimedCommand(new CommandId(1, 2, 3), 4, new TopicCommand.Create(spec));
    byte[] bytes = RegistryCodec.encodeBatch(List.of(command));
    Protocol frozen = Formats.load(1);
    Schema later = withField(frozen.getType(named("CommandData")), "priority", "7");
    Schema written = frozen.getType(named("CommandData"));
    GenericRecord read =
        new org.apache.avro.generic.GenericDatumReader<GenericRecord>(
                batchOf(frozen, written), batchOf(frozen, later))
            .read(null, new BoundedDecoder(ByteBuffer.wrap(bytes, 1, bytes.length - 1).slice()));
    GenericRecord first = (GenericRecord) ((List<?>) read.get("commands")).get(0);
    assertThat(first.get("priority")).isEqualTo(7L);
    assertThat(first.get("timeMillis")).isEqualTo(4L);
  }

  /** Reads an earlier format that had less, with this version as the later one. */
  @Test
  void anEarlierFormatIsReadWithDefaults() throws Exception {
    Schema earlier = Schema.createRecord("SpecData", null, "io.eventbus.registry.schema", false);
    earlier.setFields(
        List.of(
            new Schema.Field("name", Schema.create(Schema.Type.STRING)),
            new Schema.Field("settings", Schema.createMap(Schema.create(Schema.Type.STRING))),
            new Schema.Field("retired", Schema.create(Schema.Type.LONG))));
    Protocol format0 = new Protocol("RegistryProtocol", "io.eventbus.registry.schema");
    format0.setTypes(List.of(earlier));
    GenericRecord old = new GenericData.Record(earlier);
    old.put("name", "a.b");
    old.put("settings", Map.of("k", "v"));
    old.put("retired", 9L);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(0);
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(earlier).write(old, encoder);
    SpecData read =
        new Formats(Map.of(0, format0))
            .decode(ByteBuffer.wrap(out.toByteArray()), SpecData.getClassSchema(), SpecData.class);
    assertThat(Values.value(read)).isEqualTo(new TopicSpec("a.b", Map.of("k", "v")));
  }

  @Test
  void aLaterFormatIsRefusedAndNamed() {
    assertThatThrownBy(() -> RegistryCodec.decodeBatch(ByteBuffer.wrap(new byte[] {4, 0})))
        .isInstanceOf(RegistryFormatException.class)
        .hasMessage("format: 4 (expected: one of [1, 2, 3])");
  }

  @Test
  void refusesIllegalValues() {
    BatchData data =
        new BatchData(
            List.of(
                new CommandData(
                    1L, 2L, 3L, 4L, new CreateTopicData(new SpecData("a.*", Map.of())))));
    assertThatThrownBy(
            () -> RegistryCodec.decodeBatch(ByteBuffer.wrap(Formats.get().encode(1, data))))
        .isInstanceOf(RegistryFormatException.class)
        .hasMessageContaining("no wildcard");
  }

  @Test
  void aCountThatPromisesMoreThanThereIsTakesNoMemory() {
    ByteBuffer bytes = ByteBuffer.wrap(new byte[] {1, -2, -1, -1, -1, 15, 0});
    assertThatThrownBy(() -> RegistryCodec.decodeBatch(bytes))
        .isInstanceOf(RegistryFormatException.class)
        .hasMessageContaining("items: 2147483647 (bytes left: 1)");
  }

  /** Returns the state that was written once with this code and kept; see the test above. */
  static RegistryState golden(int format) {
    RandomCommands commands = new RandomCommands(1, format);
    RegistryState state = RegistryState.empty(new RegistryLimits(8, 8, 16), 1);
    for (int i = 0; i < (format < 3 ? 36 : 60); i++) {
      state = StateMachine.apply(state, commands.next(state)).state();
    }
    return state;
  }

  private static String named(String type) {
    return "io.eventbus.registry.schema." + type;
  }

  private static Schema batchOf(Protocol protocol, Schema command) {
    Schema batch = Schema.createRecord("BatchData", null, protocol.getNamespace(), false);
    batch.setFields(List.of(new Schema.Field("commands", Schema.createArray(command))));
    return batch;
  }

  private static Schema withField(Schema record, String name, String value) {
    Schema more = Schema.createRecord(record.getName(), null, record.getNamespace(), false);
    java.util.ArrayList<Schema.Field> fields = new java.util.ArrayList<>();
    record.getFields().forEach(f -> fields.add(new Schema.Field(f, f.schema())));
    fields.add(
        new Schema.Field(name, Schema.create(Schema.Type.LONG), null, Long.parseLong(value)));
    more.setFields(fields);
    return more;
  }
}
