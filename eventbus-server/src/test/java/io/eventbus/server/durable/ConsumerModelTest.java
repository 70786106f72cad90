package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Truncated;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleFrames.Fed;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Consumers on two loops while events are published, copied, trimmed and purged, in a random order:
 * each gets every event of its filter once and in order, or is told that it is gone.
 */
class ConsumerModelTest {
  private static final int SEEDS = 100;
  private static final int STEPS = 120;
  private static final int TOPICS = 3;

  /** Run of one seed. */
  private static final class Model {
    final Random random;
    final KeepPolicy keep;
    final FakeLoops loops = new FakeLoops(2);
    final BusMemory memory = new BusMemory(1 << 30);
    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    final FakeJournals journals = new FakeJournals();
    final FakeReads reads = new FakeReads();
    final JournalConsumers all;
    final JournalInfo journal;
    final TreeMap<Long, Integer> topics = new TreeMap<>();
    final Map<Integer, Long> numbers = new HashMap<>();
    final Set<Long> gone = new HashSet<>();
    final List<Reader> readers = new ArrayList<>();
    long last;
    boolean ending;

    Model(long seed, KeepPolicy keep) {
      random = new Random(seed);
      this.keep = keep;
      var unused =
          journals.create(
              new JournalDefinition(
                  "orders",
                  List.of(TopicFilter.parse("orders.>")),
                  keep,
                  Retention.UNLIMITED,
                  FullPolicy.DROP_OLD));
      all = reads.consumers(journals, loops, memory, allocator, random.nextInt(3_000));
      journal = Objects.requireNonNull(all.find("", "orders"));
    }

    void step() {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> publish();
        case 3 -> readers.add(new Reader(this));
        case 4, 5 -> reads.run();
        case 6, 7 -> {
          boolean unused = loops.runOne(random.nextInt(2));
        }
        case 8 -> withReader(Reader::goOn);
        default -> remove();
      }
    }

    private void publish() {
      int topic = random.nextInt(TOPICS);
      String[] payloads = new String[random.nextInt(1, 6)];
      for (int i = 0; i < payloads.length; i++) {
        last++;
        payloads[i] = String.valueOf(last);
        topics.put(last, topic);
      }
      long sequence = numbers.merge(topic, (long) payloads.length, Long::sum) - payloads.length + 1;
      boolean copied = !ending && random.nextInt(8) == 0;
      if (copied) {
        journals.copies(true);
      }
      FakeEvents.publish(journals, 1, "orders." + topic, sequence, payloads);
      if (copied) {
        journals.copies(false);
      }
    }

    private void remove() {
      if (last == 0 || keep == KeepPolicy.LATEST) {
        return;
      }
      if (random.nextInt(4) == 0) {
        journals.tellAgain();
      } else if (random.nextBoolean()) {
        long upTo = random.nextLong(1, last + 1);
        var unused = journals.trim(1, upTo);
        topics.headMap(upTo + 1).keySet().forEach(gone::add);
      } else {
        long from = random.nextLong(1, last + 1);
        long to = Math.min(last, from + random.nextInt(4));
        var unused = journals.purge(1, "", from, to);
        topics.subMap(from, to + 1).keySet().forEach(gone::add);
      }
    }

    private void withReader(Consumer<Reader> task) {
      if (!readers.isEmpty()) {
        task.accept(readers.get(random.nextInt(readers.size())));
      }
    }

    void finish() {
      ending = true;
      publish();
      readers.forEach(Reader::goOn);
      for (int i = 0; i < 1_000 && (reads.waiting() > 0 || anyLoopWaits()); i++) {
        reads.run();
        loops.runAll();
        readers.forEach(Reader::goOn);
      }
      readers.forEach(Reader::check);
      readers.forEach(reader -> reader.consumer.end());
      loops.runAll();
      readers.forEach(reader -> reader.frames.close());
      assertThat(memory.used()).isZero();
    }

    private boolean anyLoopWaits() {
      return loops.waiting(0) + loops.waiting(1) > 0;
    }
  }

  /** Connection with one consumer. */
  private static final class Reader implements JournalConsumer.Line {
    final Model model;
    final int loop;
    final int filter;
    final DeliveryAllocator frames;
    final OrderedConsumer consumer;
    final List<Long> got = new ArrayList<>();
    final Set<Long> missing = new HashSet<>();
    long limit;
    long first;
    long next;
    boolean room;

    Reader(Model model) {
      this.model = model;
      loop = model.random.nextInt(2);
      frames = new DeliveryAllocator(model.allocator, model.memory);
      // All topics, or one of them.
      filter = model.random.nextInt(TOPICS + 1);
      limit = model.random.nextInt(200);
      ConsumeStart start =
          model.keep == KeepPolicy.LATEST
              ? ConsumeStart.LATEST_VALUES
              : model.random.nextBoolean() ? ConsumeStart.POSITION : ConsumeStart.NEW;
      consumer =
          new OrderedConsumer(
              model.all,
              model.journal,
              new JournalConsumer.Wish(
                  1,
                  TopicFilter.parse(filter == TOPICS ? "orders.>" : "orders." + filter),
                  "",
                  start,
                  start == ConsumeStart.POSITION ? model.random.nextLong(model.last + 1) + 1 : 0,
                  limit),
              this);
      consumer.start();
    }

    void goOn() {
      room = true;
      limit += model.ending ? 1 << 20 : 300;
      consumer.grant(limit);
      consumer.advance();
    }

    void check() {
      assertThat(next).as("all is covered").isEqualTo(model.last + 1);
      assertThat(got).isSorted().doesNotHaveDuplicates();
      Set<Long> received = new HashSet<>(got);
      Map<Integer, Long> latest = new HashMap<>();
      model.topics.forEach((position, topic) -> latest.put(topic, position));
      model
          .topics
          .tailMap(first)
          .forEach(
              (position, topic) -> {
                boolean wanted = filter == TOPICS || filter == topic;
                if (!wanted) {
                  assertThat(received).doesNotContain(position);
                } else if (model.keep == KeepPolicy.LATEST) {
                  assertThat(
                          received.contains(position) || position < latest.getOrDefault(topic, 0L))
                      .as("position %d", position)
                      .isTrue();
                } else {
                  assertThat(received.contains(position) != missing.contains(position))
                      .as("position %d", position)
                      .isTrue();
                  assertThat(missing.contains(position) && !model.gone.contains(position))
                      .as("position %d is there", position)
                      .isFalse();
                }
              });
    }

    @Override
    public int loop() {
      return loop;
    }

    @Override
    public long connection() {
      return 1;
    }

    @Override
    public Object address() {
      return this;
    }

    @Override
    public void execute(Runnable task) {
      model.loops.executor(loop).execute(task);
    }

    @Override
    public DeliveryAllocator frames() {
      return frames;
    }

    @Override
    public boolean begin(JournalConsumer which) {
      return room || model.ending;
    }

    @Override
    public void end(JournalConsumer which) {
      room = model.random.nextBoolean();
    }

    @Override
    public void send(Delivery frame, int events) {
      Object sent = SampleFrames.read(frame.frame()).get(0);
      frame.release();
      if (sent instanceof Fed fed) {
        begin(fed.from());
        next = fed.to() + 1;
        fed.payloads().forEach(payload -> got.add(Long.valueOf(payload)));
      } else {
        Truncated truncated = (Truncated) sent;
        begin(truncated.getFrom());
        next = truncated.getTo() + 1;
        for (long i = truncated.getFrom(); i < next; i++) {
          missing.add(i);
        }
      }
    }

    private void begin(long from) {
      if (first == 0) {
        first = from;
      } else {
        assertThat(from).isEqualTo(next);
      }
    }

    @Override
    public void tickSoon(JournalConsumer which) {
      model.reads.passSeconds(1);
      assertThat(consumer.tick()).isTrue();
    }

    @Override
    public void opened() {}

    @Override
    public void accepted(JournalConsumer which) {}

    @Override
    public void ended(JournalConsumer which, ErrorCode code, String message, boolean retryable) {
      throw new AssertionError(message);
    }

    @Override
    public void finished(JournalConsumer which) {}

    @Override
    public void settled(JournalConsumer which, long upTo) {
      throw new AssertionError("settled");
    }

    @Override
    public void unsettled(JournalConsumer which, String message) {
      throw new AssertionError(message);
    }

    @Override
    public void failed() {
      throw new AssertionError("no memory");
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyEventComesOnceAndInOrderOrIsTold(KeepPolicy keep) {
    for (long seed = 0; seed < SEEDS; seed++) {
      Model model = new Model(seed, keep);
      try {
        for (int i = 0; i < STEPS; i++) {
          model.step();
        }
        model.finish();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }
}
