package io.eventbus.server.durable;

import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Tasks of readers, which run when the test says so. For one thread. */
public final class FakeReads {
  private long nanos;
  private int ran;
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<Timer> timers = new ArrayList<>();
  private final List<Advisory> told = new ArrayList<>();

  private record Timer(long due, Runnable task) {}

  /** Creates what consumers share, which is told of everything from now on. */
  public JournalConsumers consumers(
      FakeJournals journals, Loops loops, BusMemory memory, ByteBufAllocator allocator) {
    return consumers(journals, loops, memory, allocator, 1 << 20);
  }

  /** Creates what consumers share, with so many bytes for the ends of journals. */
  JournalConsumers consumers(
      FakeJournals journals,
      Loops loops,
      BusMemory memory,
      ByteBufAllocator allocator,
      long tailBytes) {
    return consumers(journals, CursorOwner.alone("bus"), loops, memory, allocator, tailBytes);
  }

  /** Creates what the consumers of a bus share that has an owner. */
  JournalConsumers consumers(
      FakeJournals journals,
      CursorOwner owner,
      Loops loops,
      BusMemory memory,
      ByteBufAllocator allocator,
      long tailBytes) {
    JournalConsumers consumers =
        new JournalConsumers(
            journals,
            loops,
            memory,
            allocator,
            tailBytes,
            new ReadTurns((task, millis) -> tasks.add(task), JournalConsumers.READERS),
            owner,
            told::add,
            this::later,
            () -> nanos);
    var unused = journals.watch(consumers);
    return consumers;
  }

  private void later(Runnable task, long millis) {
    timers.add(new Timer(nanos + millis * 1_000_000L, task));
  }

  /** Returns what operators were told. */
  List<Advisory> told() {
    return told;
  }

  /** Lets time pass. */
  public void passSeconds(long seconds) {
    passMillis(1_000 * seconds);
  }

  /** Lets time pass; what is due then waits to be run. */
  public void passMillis(long millis) {
    nanos += millis * 1_000_000L;
    List<Timer> due = timers.stream().filter(timer -> timer.due <= nanos).toList();
    timers.removeAll(due);
    due.forEach(timer -> tasks.add(timer.task));
  }

  /** Returns the number of timers that run. */
  int timers() {
    return timers.size();
  }

  /** Runs the tasks that wait now. */
  public void run() {
    for (int left = tasks.size(); left > 0; left--) {
      tasks.remove().run();
      ran++;
    }
  }

  /** Returns how many tasks have run. */
  public int ran() {
    return ran;
  }

  /** Returns the number of tasks that wait. */
  public int waiting() {
    return tasks.size();
  }
}
