package io.eventbus.server.admission;

import com.sun.management.UnixOperatingSystemMXBean;
import io.eventbus.server.stats.RefusalReason;
import java.lang.management.ManagementFactory;

/**
 * Maximum of client connections of a bus: the configured one, or what the process has descriptors
 * or heap for, whichever is least.
 *
 * @param connections client connections, at least 1
 */
public record ConnectionLimit(int connections, RefusalReason reason, String message, int spare) {
  /** Heap of a connection, with a margin. */
  static final int HEAP_BYTES = 4096;

  static final int TLS_HEAP_BYTES = 12 * 1024;

  private static final int MIN_RESERVE = 64;
  private static final int MAX_RESERVE = 1024;
  private static final int MAX_ANSWERED = 64;
  private static final int MAX_ADMINISTRATION = 1024;

  /** Resources of a process. A limit of descriptors that is not positive is not known. */
  record Resources(
      long descriptors, long descriptorsInUse, long maxHeapBytes, int heapBytesForOne) {
    static Resources ofProcess(boolean tls) {
      long max = 0;
      long used = 0;
      if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
        max = unix.getMaxFileDescriptorCount();
        used = unix.getOpenFileDescriptorCount();
      }
      return new Resources(
          max, used, Runtime.getRuntime().maxMemory(), tls ? TLS_HEAP_BYTES : HEAP_BYTES);
    }
  }

  /** Finds the limit of this process, as it is now. */
  public static ConnectionLimit ofProcess(int configured, boolean tls) {
    return of(configured, Resources.ofProcess(tls));
  }

  static ConnectionLimit of(int configured, Resources resources) {
    long reserve = Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, resources.descriptors() / 16));
    long free = resources.descriptors() - resources.descriptorsInUse();
    long byDescriptors =
        resources.descriptors() > 0 ? Math.max(1, free - reserve) : Integer.MAX_VALUE;
    long byHeap = Math.max(1, resources.maxHeapBytes() / 4 / resources.heapBytesForOne());
    int least = (int) Math.min(configured, Math.min(byDescriptors, byHeap));
    long spare = resources.descriptors() > 0 ? Math.max(0, free - least) : Integer.MAX_VALUE;
    int left = (int) Math.min(Integer.MAX_VALUE, spare);
    if (least == configured) {
      return new ConnectionLimit(
          least, RefusalReason.MAX_CONNECTIONS, "listen.max-connections is " + configured, left);
    }
    if (least == byDescriptors) {
      return new ConnectionLimit(
          least,
          RefusalReason.DESCRIPTORS,
          "the limit of open files (ulimit -n) is "
              + resources.descriptors()
              + ", of which "
              + resources.descriptorsInUse()
              + " were in use at the start and "
              + reserve
              + " are kept in reserve",
          left);
    }
    return new ConnectionLimit(
        least,
        RefusalReason.HEAP,
        "the heap is at most "
            + resources.maxHeapBytes()
            + " bytes, a quarter of which has room for so many with "
            + resources.heapBytesForOne()
            + " bytes each",
        left);
  }

  /**
   * Returns how many excess connections may have a descriptor at a time, so that they get an
   * answer: a quarter of the spare ones, at least 1.
   */
  public int answered() {
    return Math.min(MAX_ANSWERED, Math.max(1, spare / 4));
  }

  /**
   * Returns how many connections the administration port may have: half of the spare ones, at least
   * 1.
   */
  public int administration() {
    return Math.min(MAX_ADMINISTRATION, Math.max(1, spare / 2));
  }
}
