package io.eventbus.server.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that clients make the bus hold for services: calls, their requests, services that calls
 * wait for, and tunnels; or registrations. A part of the bus's memory with a limit of its own, so
 * that it takes nothing from events. Any thread; calls are counted by way of {@link OfLoop}.
 */
public final class ServiceMemory {
  private final BusMemory memory;
  private final long limit;
  private final String what;
  private final AtomicLong used = new AtomicLong();

  ServiceMemory(BusMemory memory, long limit, String what) {
    this.memory = memory;
    this.limit = limit;
    this.what = what;
  }

  /**
   * Count of one event loop. Calls come and go so often that the counters of all loops are changed
   * only now and then, by more than one call needs. Confined to the loop.
   */
  public static final class OfLoop {
    private static final long CHUNK_BYTES = 16 << 10;

    private final ServiceMemory all;
    private long held;
    private long taken;
    // Without the bytes that the bus's memory counts elsewhere.
    private long heldOnlyHere;
    private long takenOnlyHere;

    OfLoop(ServiceMemory all) {
      this.all = all;
    }

    /**
     * Changes the bytes that are held; negative for fewer.
     *
     * @param bytes how many more; negative for fewer
     */
    void change(long bytes, long elsewhere) {
      held += bytes;
      heldOnlyHere += bytes - elsewhere;
      long toTake = settled(held, taken);
      if (toTake != taken) {
        all.used.addAndGet(toTake - taken);
        taken = toTake;
      }
      toTake = settled(heldOnlyHere, takenOnlyHere);
      if (toTake != takenOnlyHere) {
        long change = toTake - takenOnlyHere;
        takenOnlyHere = toTake;
        all.memory.change(change);
      }
    }

    private static long settled(long held, long taken) {
      if (held == 0) {
        return 0;
      }
      return held > taken || taken - held > 2 * CHUNK_BYTES ? held + CHUNK_BYTES : taken;
    }

    ServiceMemory all() {
      return all;
    }
  }

  /** Creates the count of one event loop. */
  public OfLoop ofLoop() {
    return new OfLoop(this);
  }

  /** Changes the bytes that are held for no connection; negative for fewer. Any thread. */
  public void change(long bytes) {
    used.addAndGet(bytes);
    memory.change(bytes);
  }

  /** Returns the bytes held for services; a little more than is held. */
  public long used() {
    return used.get();
  }

  /** Returns its purpose for people, in the plural. */
  String what() {
    return what;
  }

  /** Returns the bytes that may be held for services. */
  public long limit() {
    return limit;
  }
}
