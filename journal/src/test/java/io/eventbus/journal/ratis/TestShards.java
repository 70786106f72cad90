package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.Retention;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.TestStores;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Shards and their callers for tests. */
final class TestShards {
  /** Cluster of all shards. */
  static final UUID CLUSTER = new UUID(3, 4);

  /** Filter that matches every topic. */
  static final TopicFilter ALL = TopicFilter.parse(">");

  private TestShards() {}

  /** Publication that was answered. */
  static final class Answer implements AppendListener {
    private final CompletableFuture<RecordResult> result = new CompletableFuture<>();

    @Override
    public void completed(RecordResult done) {
      assertThat(result.complete(done)).as("the first answer").isTrue();
    }

    @Override
    public void unavailable(JournalsUnavailableException cause) {
      assertThat(result.completeExceptionally(cause)).as("the first answer").isTrue();
    }

    CompletableFuture<RecordResult> result() {
      return result;
    }
  }

  static ShardOptions options(Path directory) {
    return options(directory, ShardLimits.DEFAULT, System::currentTimeMillis);
  }

  static ShardOptions options(Path directory, ShardLimits limits, LongSupplier wallMillis) {
    return options(directory, limits, wallMillis, FlushPolicy.DEFAULT);
  }

  static ShardOptions options(
      Path directory, ShardLimits limits, LongSupplier wallMillis, FlushPolicy flush) {
    return new ShardOptions(
        directory,
        CLUSTER,
        1,
        "bus-a~1",
        TestStores.resources(),
        new ShardOptions.Tuning(
            new StoreOptions(1 << 20, 3, true, Duration.ofSeconds(30), flush),
            limits,
            16L << 20,
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            Duration.ofMillis(10),
            wallMillis,
            Duration.ofMillis(500),
            Duration.ofMillis(1_000),
            4L << 30,
            64L << 20));
  }

  /** Returns settings of a shard to whose log its leader adds nothing by itself. */
  static ShardOptions withoutDuties(ShardOptions options) {
    ShardOptions.Tuning tuning = options.tuning();
    return new ShardOptions(
        options.directory(),
        options.cluster(),
        options.shard(),
        options.member(),
        options.replicas(),
        options.resources(),
        new ShardOptions.Tuning(
            tuning.store(),
            tuning.limits(),
            tuning.maxPendingBytes(),
            tuning.answerTimeout(),
            tuning.openTimeout(),
            Duration.ofDays(1),
            tuning.wallMillis(),
            tuning.electionTimeoutMin(),
            tuning.electionTimeoutMax(),
            tuning.maxLogBytes(),
            tuning.copyBytesPerSecond()));
  }

  /** Opens and starts a shard. */
  static ShardServer open(ShardOptions options, ShardServer.Observer observer) throws IOException {
    ShardServer shard = ShardServer.open(options, observer);
    try {
      shard.start();
      return shard;
    } catch (IOException | RuntimeException e) {
      shard.close();
      throw e;
    }
  }

  /** Opens the store of a shard that is closed. */
  static ShardStore openStore(ShardOptions options) throws IOException {
    return ShardStore.open(
        options.directory().resolve("shards/" + options.shard() + "/store"),
        new StoreIdentity(options.group(), options.member()),
        options.tuning().store(),
        options.resources(),
        failure -> {});
  }

  static JournalDefinition definition(String name) {
    return definition(name, Retention.UNLIMITED);
  }

  static JournalDefinition definition(String name, Retention retention) {
    return new JournalDefinition(
        name, List.of(ALL), KeepPolicy.ALL, retention, FullPolicy.DROP_OLD);
  }

  static int create(Journals journals, JournalDefinition definition) {
    return ((JournalCreated) await(journals.create(definition))).journal();
  }

  static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Returns a block of events as they come with a publish frame. */
  static ByteBuffer events(long first, int count, int payloadBytes) {
    EventBlock block = TestEntries.numbered(first, count, payloadBytes);
    ByteBuffer out = ByteBuffer.allocate(block.size());
    block.write(out);
    return out.flip();
  }

  static PublishHead head(int journal, String topic, String producer, long sequence) {
    return TestEntries.head(journal, topic, producer, sequence, sequence - 1, 0, 0, 0);
  }

  /** Publishes events that are recognized by their sequences. */
  static Answer publish(
      Journals journals, int journal, String topic, String producer, long sequence, int count) {
    Answer answer = new Answer();
    boolean accepted =
        journals.append(
            head(journal, topic, producer, sequence), events(sequence, count, 20), answer);
    assertThat(accepted).as("room").isTrue();
    return answer;
  }

  /** Event that a reader has got. */
  record Read(long position, String topic, long number) {}

  /** Reads a journal from its first event to its end. */
  static List<Read> read(Journals journals, int journal, TopicFilter filter) {
    StoredEventReader reader = journals.reader(journal, filter);
    List<Read> found = new ArrayList<>();
    long next = 1;
    ReadBatch batch = Objects.requireNonNull(reader.read(next, 1 << 20), "journal");
    while (batch.to() >= next) {
      for (ReadPart part : batch.parts()) {
        add(part, found);
      }
      next = batch.to() + 1;
      batch = Objects.requireNonNull(reader.read(next, 1 << 20), "journal");
    }
    return found;
  }

  private static void add(ReadPart part, List<Read> found) {
    ByteBuffer frame = part.frame().duplicate();
    BodyReader in = new BodyReader().wrap(frame, frame.position(), frame.limit());
    in.readInt("type");
    in.readLength("body", Integer.MAX_VALUE);
    DeliverView deliver = new DeliverView();
    deliver.read(frame, in.position(), frame.limit(), FrameLimits.UNLIMITED);
    List<Long> numbers = TestEvents.numbers(deliver.events());
    for (int i = 0; i < numbers.size(); i++) {
      found.add(new Read(part.position() + i, deliver.topic(), numbers.get(i)));
    }
  }
}
