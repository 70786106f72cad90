package io.eventbus.server.durable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Room for publications on their way to the disk, which they reach one behind the other. A client
 * address may use as much as it leaves free: so a flood waits for its own publications, and other
 * addresses find room, and a short way to the disk. Any thread.
 */
public final class PublishRoom {
  /** Maximum number of frames of all addresses. */
  static final int MAX_FRAMES = 1_024;

  /** Maximum bytes of these frames, but for one frame of each address. */
  static final long MAX_BYTES = 8L << 20;

  private static final class Used {
    private int frames;
    private long bytes;
    private List<Runnable> waiting = new ArrayList<>(1);
  }

  // Addresses with publications under way.
  private final Map<Object, Used> addresses = new HashMap<>();
  private int frames;
  private long bytes;

  /** Creates an empty room. */
  public PublishRoom() {}

  /**
   * Acquires room for a frame, until {@link #release}. Returns false if its address uses too much.
   *
   * @param address object that the clients of one address have in common
   * @param retry called once, by any thread, if there is no room
   */
  public synchronized boolean acquire(Object address, int size, Runnable retry) {
    Used used = addresses.computeIfAbsent(address, key -> new Used());
    if (used.frames > 0
        && (used.frames >= MAX_FRAMES - frames || used.bytes + size > MAX_BYTES - bytes)) {
      used.waiting.add(retry);
      return false;
    }
    used.frames++;
    used.bytes += size;
    frames++;
    bytes += size;
    return true;
  }

  /** Releases the room of a frame. */
  public void release(Object address, int size) {
    released(address, size).forEach(Runnable::run);
  }

  private synchronized List<Runnable> released(Object address, int size) {
    Used used = addresses.get(address);
    if (used == null) {
      throw new IllegalStateException("room of an address that has none");
    }
    used.frames--;
    used.bytes -= size;
    frames--;
    bytes -= size;
    if (used.frames == 0) {
      addresses.remove(address);
      return used.waiting;
    }
    // Not for each frame: each of those that wait has one at least.
    if (used.waiting.isEmpty()
        || used.frames > (MAX_FRAMES - frames) / 2
        || used.bytes > (MAX_BYTES - bytes) / 2) {
      return List.of();
    }
    List<Runnable> woken = used.waiting;
    used.waiting = new ArrayList<>(1);
    return woken;
  }

  /** Returns the frames under way. */
  synchronized int frames() {
    return frames;
  }
}
