package io.eventbus.server.durable;

import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.Queue;

/** Tasks of readers, which run when the test says so. For one thread. */
public final class FakeReads {
  private long nanos;
  private int ran;
  private final Queue<Runnable> tasks = new ArrayDeque<>();

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
    JournalConsumers consumers =
        new JournalConsumers(
            journals,
            loops,
            memory,
            allocator,
            tailBytes,
            new ReadTurns((task, millis) -> tasks.add(task), JournalConsumers.READERS),
            () -> nanos);
    var unused = journals.watch(consumers);
    return consumers;
  }

  /** Lets time pass. */
  public void passSeconds(long seconds) {
    nanos += seconds * 1_000_000_000L;
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
