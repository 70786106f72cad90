package io.eventbus.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.VMOption;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Release of unused heap to the system by a bus that has little to do.
 *
 * <p>By itself G1 checks what can be released only when it collects, and a quiet bus hardly ever
 * makes it collect: what a burst of connections needed would stay with the process. So this turns
 * G1's periodic collection on when the process has become quiet, and off once it has collected. It
 * does nothing if the user has set one of the options, or the JVM does not know them, and gives up
 * if the JVM's management fails: the bus needs none of it.
 */
final class UnusedHeap implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnusedHeap.class);
  private static final String INTERVAL = "G1PeriodicGCInterval";
  private static final String MIN_FREE = "MinHeapFreeRatio";
  private static final String MAX_FREE = "MaxHeapFreeRatio";

  /** Interval of samples; a collection comes within that and one second more. */
  private static final int LOOK_SECONDS = 5;

  private static final String SOON_MILLIS = "1000";
  private static final String NEVER = "0";

  /** Options that were set here; of the whole JVM, as the options are. */
  private static final Map<String, String> OURS = new ConcurrentHashMap<>();

  private final @Nullable HotSpotDiagnosticMXBean vm;
  private final LongSupplier cpuNanos;
  private @Nullable QuietPhase quiet;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "unused-heap");
            made.setDaemon(true);
            return made;
          });

  private UnusedHeap(@Nullable HotSpotDiagnosticMXBean vm, LongSupplier cpuNanos) {
    this.vm = vm;
    this.cpuNanos = cpuNanos;
  }

  /** Begins to look after this JVM's heap. */
  static UnusedHeap giveBack() {
    return giveBack(vm(), UnusedHeap::cpuNanos);
  }

  /** Starts with a JVM of its own, for tests. */
  static UnusedHeap giveBack(@Nullable HotSpotDiagnosticMXBean vm, LongSupplier cpuNanos) {
    UnusedHeap heap = new UnusedHeap(vm, cpuNanos);
    heap.orGiveUp(heap::begin);
    return heap;
  }

  private void orGiveUp(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | LinkageError e) {
      thread.shutdownNow();
      LOG.warn("the heap that is not used stays with the process: the JVM's management fails", e);
    }
  }

  private void begin() {
    // The least first: it must never be more than the most.
    if (vm == null || !Stream.of(MIN_FREE, MAX_FREE, INTERVAL).allMatch(this::isOurs)) {
      thread.shutdownNow();
      return;
    }
    set(MIN_FREE, "10");
    set(MAX_FREE, "25");
    set(INTERVAL, NEVER);
    quiet = new QuietPhase(System.nanoTime(), cpuNanos.getAsLong());
    var unused =
        thread.scheduleWithFixedDelay(this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
  }

  /** Samples whether the process is quiet, and lets it collect or not. */
  void look() {
    orGiveUp(
        () -> {
          QuietPhase phase = quiet;
          if (phase != null) {
            boolean collect = phase.look(System.nanoTime(), cpuNanos.getAsLong(), collections());
            set(INTERVAL, collect ? SOON_MILLIS : NEVER);
          }
        });
  }

  /** Returns the JVM's options; null if this is not for the JVM. */
  private static @Nullable HotSpotDiagnosticMXBean vm() {
    try {
      HotSpotDiagnosticMXBean vm =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      // To other collectors the ratios mean something else.
      return vm != null && Boolean.parseBoolean(vm.getVMOption("UseG1GC").getValue()) ? vm : null;
    } catch (RuntimeException | LinkageError e) {
      LOG.debug("this JVM has no options that can be set while it runs", e);
      return null;
    }
  }

  /**
   * Returns whether an option may be set; false if it was set already, on the command line or
   * since, or the JVM has none.
   */
  private boolean isOurs(String name) {
    HotSpotDiagnosticMXBean options = vm;
    if (options == null) {
      return false;
    }
    try {
      VMOption option = options.getVMOption(name);
      return option.getOrigin() == VMOption.Origin.DEFAULT
          || option.getValue().equals(OURS.get(name));
    } catch (IllegalArgumentException e) {
      LOG.debug("this JVM has no option {}", name, e);
      return false;
    }
  }

  private void set(String name, String value) {
    HotSpotDiagnosticMXBean options = vm;
    if (options == null || value.equals(OURS.get(name)) || !isOurs(name)) {
      return;
    }
    try {
      options.setVMOption(name, value);
      OURS.put(name, value);
    } catch (IllegalArgumentException e) {
      LOG.debug("this JVM does not take {} for {}", value, name, e);
    }
  }

  private static long cpuNanos() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return system == null ? 0 : system.getProcessCpuTime();
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  @Override
  public void close() {
    thread.shutdownNow();
    orGiveUp(() -> set(INTERVAL, NEVER));
  }
}
