package io.eventbus.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a bus that has little to do give the system the heap back that it no longer uses.
 *
 * <p>By itself G1 looks what can be given back only when it collects, and a quiet bus hardly ever
 * makes it collect: what a burst of connections needed would stay with the process. These options
 * can be set while a JVM runs; those that the user has set are left alone, and a JVM that does not
 * know them goes on without.
 */
final class UnusedHeap {
  private static final Logger LOG = LoggerFactory.getLogger(UnusedHeap.class);

  /** G1 collects after so long without a collection: some tens of milliseconds of work. */
  private static final int IDLE_MILLIS = 15_000;

  private UnusedHeap() {}

  /** Sets the options of this JVM. */
  static void giveBack() {
    try {
      HotSpotDiagnosticMXBean vm =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      // To other collectors the ratios mean something else.
      if (vm != null && Boolean.parseBoolean(vm.getVMOption("UseG1GC").getValue())) {
        options(Runtime.getRuntime().availableProcessors())
            .forEach((option, value) -> set(vm, option, value));
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.debug("this JVM does not take options while it runs", e);
    }
  }

  private static Map<String, String> options(int processors) {
    Map<String, String> options = new LinkedHashMap<>();
    // The least first: it must never be more than the most.
    options.put("MinHeapFreeRatio", "10");
    options.put("MaxHeapFreeRatio", "25");
    // Not on a machine that is busy: the processes that wait for a processor, over one minute.
    options.put("G1PeriodicGCSystemLoadThreshold", Double.toString(processors * 0.75));
    options.put("G1PeriodicGCInterval", Integer.toString(IDLE_MILLIS));
    return options;
  }

  private static void set(HotSpotDiagnosticMXBean vm, String name, String value) {
    try {
      if (vm.getVMOption(name).getOrigin() == VMOption.Origin.DEFAULT) {
        vm.setVMOption(name, value);
      }
    } catch (IllegalArgumentException e) {
      LOG.debug("this JVM has no option {}, or does not take {}", name, value, e);
    }
  }
}
