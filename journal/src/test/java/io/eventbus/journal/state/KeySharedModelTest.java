package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.SlotsView.SlotView;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.read.CursorReader;
import io.eventbus.journal.read.SlotReader;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares key-shared cursors with a model of their slots, while consumers join, work, give slots
 * up, leave and are lost, and while what they store comes late, twice, in another order or never;
 * and the rows with those of members that have less memory, or begin anew.
 */
class KeySharedModelTest {
  private static final int SEEDS = 10;
  private static final int ENTRIES = 120;
  private static final int UNFINISHED = 8;
  static final ShardLimits LIMITS = new ShardLimits(3, 4, 2, 12, 12, 400, 4, UNFINISHED);
  private static final TopicFilter FILTER = TopicFilter.parse("a.>");

  @Test
  void eachSlotHasOneConsumerAndWhatIsSettledStaysSettled() {
    int moved = 0;
    int buried = 0;
    int again = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed);
      try {
        run.run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
      moved += run.given;
      buried += run.buried;
      again += run.endedAgain;
    }
    // The entries bring about what is compared.
    assertThat(moved).as("slots given").isGreaterThan(100 * SEEDS);
    assertThat(buried).as("dead").isGreaterThan(SEEDS);
    assertThat(again).as("dead letters that came again and ended").isPositive();
  }

  /** Returns the entries of a seed. */
  static List<ByteBuffer> entries(long seed) {
    Run run = new Run(seed);
    run.run();
    return run.entries;
  }

  /** Slot as a consumer has got it; each time it gets the slot that is another one. */
  private record Known(int possession, SlotState state) {}

  /** Progress that was sent, with what it is about. */
  private record Sent(long epoch, SlotProgress progress, Map<Integer, Known> known) {}

  private static final class Consumer {
    final long epoch;
    long serial;
    long generation;
    final Map<Integer, Known> known = new TreeMap<>();
    final Set<Integer> leaving = new TreeSet<>();
    final Set<Integer> giving = new TreeSet<>();
    final List<SlotEnd> ends = new ArrayList<>();
    // Dead letters that come again, by position.
    final Map<Long, Integer> again = new TreeMap<>();

    Consumer(long epoch) {
      this.epoch = epoch;
    }
  }

  private static final class Run {
    private final Random random;
    private final ShardFixture shard =
        new ShardFixture(LIMITS, new MemoryRows(), Shard.CACHE_BYTES);
    private final ShardFixture forgetful = new ShardFixture(LIMITS, new MemoryRows(), 0);
    private final List<ByteBuffer> entries = new ArrayList<>();
    private final List<Sent> network = new ArrayList<>();
    private final Map<Long, Consumer> consumers = new TreeMap<>();
    // The model: owner, state and number of the possession of each slot.
    private final long[] owners = new long[SlotState.SLOTS];
    private final int[] possessions = new int[SlotState.SLOTS];
    private final SlotState[] states = new SlotState[SlotState.SLOTS];
    private final Map<Long, Long> serials = new HashMap<>();
    private final Set<SlotEnd> ended = new HashSet<>();
    private final Map<Long, Integer> dead = new TreeMap<>();
    private final Map<Long, Integer> again = new TreeMap<>();
    private long stamp = 10_000_000;
    private long last;
    private long lastEpoch = 1;
    private int given;
    private int buried;
    private int endedAgain;

    Run(long seed) {
      random = new Random(seed);
      Arrays.fill(states, SlotState.at(0));
    }

    void run() {
      int prefix = 2 + random.nextInt(ENTRIES);
      MemoryRows copy = new MemoryRows();
      apply(new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 0));
      apply(new CreateCursor(1, "c", FILTER, CursorMode.KEY_SHARED, CursorStart.FIRST, 0));
      while (entries.size() < ENTRIES + 2) {
        if (entries.size() == prefix) {
          copy = shard.rows.copy();
        }
        act();
        stamp += random.nextInt(3);
      }
      List<String> rows = ShardFixture.text(shard.rows);
      assertThat(ShardFixture.text(forgetful.rows)).as("less memory").isEqualTo(rows);
      ShardFixture replayed = new ShardFixture(LIMITS, copy, Shard.CACHE_BYTES);
      entries.subList(prefix, entries.size()).forEach(replayed::apply);
      assertThat(ShardFixture.text(replayed.rows)).as("replay from " + prefix).isEqualTo(rows);
    }

    private void act() {
      switch (random.nextInt(16)) {
        case 0, 1 -> apply(publish());
        case 2 -> apply(new JoinCursor(1, "c", "o", 5));
        case 3 -> {
          if (random.nextInt(2) == 0) {
            apply(new LeaveCursor(1, "c", any().epoch, random.nextBoolean()));
          }
        }
        case 4 ->
            apply(new Redrive(1, "c", 1L + random.nextInt((int) last + 1), Long.MAX_VALUE, one(3)));
        case 5, 6, 7 -> look(any());
        case 8, 9 -> work(any());
        case 10, 11, 12 -> send(any());
        default -> deliver();
      }
    }

    private boolean one(int of) {
      return random.nextInt(of) == 0;
    }

    private Consumer any() {
      List<Consumer> all = new ArrayList<>(consumers.values());
      return all.isEmpty() ? new Consumer(99) : all.get(random.nextInt(all.size()));
    }

    private Publish publish() {
      int count = 1 + random.nextInt(20);
      return new Publish(
          TestEntries.head(1, "a.x", "p", last + 1, -1, 0, 0, 0),
          TestEntries.numbered(last + 1, count, 5));
    }

    // ---- Consumers

    private void look(Consumer consumer) {
      SlotsView view = SlotReader.slots(shard.rows, 1, "c", consumer.epoch);
      if (view == null) {
        assertThat(consumers).doesNotContainKey(consumer.epoch);
        return;
      }
      assertThat(view.full()).as("full").isEqualTo(dead.size() + again.size() >= UNFINISHED);
      assertThat(view.serial()).isEqualTo(serials.getOrDefault(consumer.epoch, 0L));
      Set<Integer> found = new TreeSet<>();
      consumer.leaving.clear();
      consumer.again.clear();
      for (SlotView each : view.slots()) {
        int slot = each.slot();
        found.add(slot);
        same(slot, owners[slot], consumer.epoch);
        same(slot, each.state(), states[slot]);
        if (each.gift() > consumer.generation) {
          consumer.known.put(slot, new Known(possessions[slot], each.state()));
          consumer.giving.remove(slot);
        }
        same(slot, known(consumer, slot).possession, possessions[slot]);
        if (each.leaving()) {
          consumer.leaving.add(slot);
        }
        for (long position : each.again()) {
          assertThat(again).containsEntry(position, slot);
          // One that this consumer has ended comes no more.
          if (consumer.ends.stream()
              .noneMatch(
                  end ->
                      end.again() && end.position() == position && end.serial() > view.serial())) {
            consumer.again.put(position, slot);
          }
        }
      }
      for (int slot = 0; slot < SlotState.SLOTS; slot++) {
        same(slot, found.contains(slot), owners[slot] == consumer.epoch);
      }
      consumer.known.keySet().retainAll(found);
      consumer.giving.retainAll(found);
      consumer.generation = view.generation();
    }

    private void work(Consumer consumer) {
      List<Integer> slots = new ArrayList<>(consumer.known.keySet());
      slots.removeAll(consumer.giving);
      if (slots.isEmpty() || last == 0) {
        return;
      }
      for (int i = 0; i < 20; i++) {
        int slot = slots.get(random.nextInt(slots.size()));
        SlotState state = known(consumer, slot).state;
        long floor = state.floor() + random.nextInt((int) (last - state.floor()) + 1);
        SlotState next = SlotState.at(state.floor()).withFloor(floor);
        if (one(3) && floor < last) {
          next =
              new SlotState(
                  floor, floor + 1, 2 + random.nextInt(4), random.nextInt(2) * 1_000L, last);
        }
        put(consumer, slot, next);
      }
      bury(consumer, 1 + random.nextInt((int) last));
      List<Long> positions = new ArrayList<>(consumer.again.keySet());
      if (!positions.isEmpty() && one(2)) {
        long position = positions.get(random.nextInt(positions.size()));
        int slot = Objects.requireNonNull(consumer.again.remove(position));
        if (slots.contains(slot)) {
          consumer.ends.add(
              new SlotEnd(
                  consumer.serial + 1, slot, position, true, random.nextInt(2) * 3, "again"));
        }
      }
    }

    private static void put(Consumer consumer, int slot, SlotState state) {
      consumer.known.put(slot, new Known(known(consumer, slot).possession, state));
    }

    private static Known known(Consumer consumer, int slot) {
      return Objects.requireNonNull(consumer.known.get(slot));
    }

    /** Buries an event, if it is of a slot of the consumer and not settled. */
    private void bury(Consumer consumer, long position) {
      int slot = (int) (position * 37 % SlotState.SLOTS);
      if (consumer.known.containsKey(slot)
          && !consumer.giving.contains(slot)
          && known(consumer, slot).state.floor() < position) {
        put(consumer, slot, known(consumer, slot).state.withFloor(position));
        consumer.ends.add(
            new SlotEnd(consumer.serial + 1, slot, position, false, 1 + random.nextInt(5), "r"));
      }
    }

    private void send(Consumer consumer) {
      for (int slot : consumer.leaving) {
        if (consumer.known.containsKey(slot) && one(2)) {
          consumer.giving.add(slot);
        }
      }
      long upTo = random.nextInt((int) last + 1);
      TreeMap<Integer, SlotState> exceptions = new TreeMap<>();
      consumer.known.forEach(
          (slot, known) -> {
            if (!known.state.equals(SlotState.at(upTo))) {
              exceptions.put(slot, known.state);
            }
          });
      SlotProgress progress =
          new SlotProgress(
              ++consumer.serial,
              consumer.generation,
              upTo,
              exceptions,
              consumer.ends,
              new TreeSet<>(consumer.giving));
      network.add(new Sent(consumer.epoch, progress, new TreeMap<>(consumer.known)));
    }

    /** Applies some of what was sent; the consumer is told, or not. */
    private void deliver() {
      Collections.shuffle(network, random);
      int count = Math.min(network.size(), 1 + random.nextInt(3));
      List<Sent> some = new ArrayList<>(network.subList(0, count));
      if (one(3)) {
        network.subList(0, count).clear();
      }
      if (some.isEmpty()) {
        return;
      }
      List<ShardRecord> records = new ArrayList<>();
      some.forEach(sent -> records.add(new SettleSlots(1, "c", sent.epoch, sent.progress)));
      List<RecordResult> results = write(records);
      for (int i = 0; i < some.size(); i++) {
        Sent sent = some.get(i);
        check(sent, results.get(i));
        Consumer consumer = consumers.get(sent.epoch);
        if (consumer != null && one(2)) {
          consumer.ends.removeAll(sent.progress.ends());
        }
      }
      compare();
    }

    // ---- The model

    private void apply(ShardRecord record) {
      RecordResult result = write(List.of(record)).get(0);
      if (record instanceof Publish publish) {
        last += publish.events().count();
      } else if (record instanceof JoinCursor) {
        join(result);
      } else if (record instanceof LeaveCursor leave) {
        leave(leave);
      } else if (record instanceof Redrive redrive) {
        redrive(redrive, (Redriven) result);
      }
      compare();
    }

    private List<RecordResult> write(List<ShardRecord> records) {
      ByteBuffer entry = TestEntries.bytes(stamp, records);
      entries.add(entry);
      List<RecordResult> results = shard.apply(entry);
      if (one(4)) {
        forgetful.restart();
      }
      forgetful.apply(entry);
      return results;
    }

    private SlotsRow row() {
      long cursor =
          CursorRow.decode(Objects.requireNonNull(shard.rows.get(Keys.cursor(1, "c")))).number();
      byte[] value = shard.rows.get(Keys.consumer(1, cursor, 0));
      return value == null ? SlotsRow.from(0) : SlotsRow.decode(value);
    }

    private void join(RecordResult result) {
      if (consumers.size() == LIMITS.consumers()) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      long epoch = ((CursorState) result).epoch();
      assertThat(epoch).isEqualTo(++lastEpoch);
      boolean first = consumers.isEmpty();
      consumers.put(epoch, new Consumer(epoch));
      if (first) {
        Arrays.fill(owners, epoch);
        for (int slot = 0; slot < SlotState.SLOTS; slot++) {
          possessions[slot]++;
        }
      }
    }

    private void leave(LeaveCursor leave) {
      if (consumers.remove(leave.epoch()) == null) {
        return;
      }
      SlotsRow row = row();
      for (int slot = 0; slot < SlotState.SLOTS; slot++) {
        if (owners[slot] == leave.epoch()) {
          move(row, slot);
          if (leave.failed()) {
            states[slot] = states[slot].withCare(last);
          }
        }
      }
    }

    private void move(SlotsRow row, int slot) {
      owners[slot] = row.target(slot);
      possessions[slot]++;
    }

    private void redrive(Redrive redrive, Redriven result) {
      Map<Long, Integer> found = new TreeMap<>(dead);
      found.keySet().removeIf(position -> position < redrive.from() || position > last);
      assertThat(result).isEqualTo(new Redriven(found.size(), 0));
      dead.keySet().removeAll(found.keySet());
      if (!redrive.discard()) {
        again.putAll(found);
      }
    }

    private void check(Sent sent, RecordResult result) {
      if (!consumers.containsKey(sent.epoch)) {
        assertThat(result).isInstanceOf(Refused.class);
        return;
      }
      assertThat(result).isEqualTo(new Done());
      SlotProgress progress = sent.progress;
      if (progress.serial() <= serials.getOrDefault(sent.epoch, 0L)) {
        return;
      }
      serials.put(sent.epoch, progress.serial());
      SlotsRow row = row();
      for (SlotEnd end : progress.ends()) {
        if (owners[end.slot()] == sent.epoch && ended.add(end)) {
          end(end);
        }
      }
      sent.known.forEach(
          (slot, known) -> {
            if (owners[slot] == sent.epoch && possessions[slot] == known.possession) {
              same(slot, known.state.floor() >= states[slot].floor(), true);
              long due = known.state.due();
              states[slot] = known.state.withDue(due == 0 ? 0 : stamp + due);
              if (progress.given().contains(slot)) {
                move(row, slot);
                given++;
              }
            }
          });
    }

    private void end(SlotEnd end) {
      if (end.again()) {
        assertThat(again.remove(end.position())).as("comes again").isEqualTo(end.slot());
        endedAgain++;
      }
      if (end.attempts() > 0) {
        assertThat(dead.put(end.position(), end.slot())).as("dead before").isNull();
        buried++;
      }
    }

    private void compare() {
      if (last == 0) {
        return;
      }
      SlotsRow row = row();
      CursorView view = Objects.requireNonNull(CursorReader.cursor(shard.rows, 1, "c"));
      assertThat(view.consumers()).isEqualTo(consumers.size());
      assertThat(view.dead()).isEqualTo(dead.size());
      assertThat(view.waiting()).isEqualTo(again.size());
      assertThat(row.counts().keySet()).isEqualTo(consumers.keySet());
      Map<Long, SlotStates> stored = new HashMap<>();
      for (long epoch : consumers.keySet()) {
        byte[] value = shard.rows.get(Keys.consumer(1, 1, epoch));
        stored.put(epoch, SlotConsumerRow.decode(Objects.requireNonNull(value)).states());
      }
      SlotStates free = row.free();
      if (free != null) {
        stored.put(0L, free);
      }
      long floor = Long.MAX_VALUE;
      for (int slot = 0; slot < SlotState.SLOTS; slot++) {
        same(slot, row.owner(slot), owners[slot]);
        same(slot, Objects.requireNonNull(stored.get(owners[slot])).of(slot), states[slot]);
        floor = Math.min(floor, states[slot].floor());
      }
      for (Map<Long, Integer> each : List.of(dead, again)) {
        for (long position : each.keySet()) {
          floor = Math.min(floor, position - 1);
        }
      }
      assertThat(view.floor()).as("floor").isEqualTo(floor);
      assertThat(positions(Keys.DEAD)).isEqualTo(dead.keySet());
      assertThat(positions(Keys.WAITING)).isEqualTo(again.keySet());
    }

    private static void same(int slot, Object found, Object expected) {
      if (!found.equals(expected)) {
        throw new AssertionError("slot " + slot + ": " + found + " (expected: " + expected + ")");
      }
    }

    private Set<Long> positions(byte kind) {
      Set<Long> found = new TreeSet<>();
      try (RowScan scan = shard.rows.scan(Keys.first(kind, 1), Keys.end(kind, 1))) {
        while (scan.next()) {
          found.add(Keys.lastNumber(scan.key()));
        }
      }
      return found;
    }
  }
}
