package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The options are real ones of this JVM; the build runs these tests once with G1. */
class UnusedHeapTest {
  private final HotSpotDiagnosticMXBean vm =
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);

  @BeforeEach
  void hasG1() {
    assumeTrue(Boolean.parseBoolean(value("UseG1GC")));
  }

  private String value(String option) {
    return vm.getVMOption(option).getValue();
  }

  @Test
  void setsWhatTheUserHasNot() {
    try (UnusedHeap heap = UnusedHeap.giveBack()) {
      heap.look();
      assertThat(vm.getVMOption("G1PeriodicGCInterval").getOrigin())
          .isIn(VMOption.Origin.MANAGEMENT, VMOption.Origin.DEFAULT);
      assertThat(value("G1PeriodicGCInterval")).isIn("0", "1000");
      assertThat(value("MinHeapFreeRatio")).isEqualTo("10");
      assertThat(value("MaxHeapFreeRatio")).isEqualTo("25");
    }
    assertThat(value("G1PeriodicGCInterval")).isEqualTo("0");
  }

  @Test
  void aJvmWhoseManagementFailsDoesNotEndTheBus() {
    HotSpotDiagnosticMXBean failing =
        (HotSpotDiagnosticMXBean)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HotSpotDiagnosticMXBean.class},
                (proxy, method, arguments) -> {
                  throw new SecurityException("not here");
                });
    try (UnusedHeap heap = UnusedHeap.giveBack(failing, () -> 0)) {
      heap.look();
    }
    AtomicBoolean fails = new AtomicBoolean();
    LongSupplier clock =
        () -> {
          if (fails.get()) {
            throw new IllegalStateException("no clock");
          }
          return 0;
        };
    try (UnusedHeap heap = UnusedHeap.giveBack(vm, clock)) {
      fails.set(true);
      heap.look();
      UnusedHeap.giveBack(vm, clock).close();
    }
    assertThat(value("G1PeriodicGCInterval")).isEqualTo("0");
  }

  @Test
  void leavesAloneWhatSomebodyElseHasSet() {
    UnusedHeap.giveBack().close();
    String before = value("MaxHeapFreeRatio");
    vm.setVMOption("MaxHeapFreeRatio", "60");
    vm.setVMOption("G1PeriodicGCInterval", "70000");
    try (UnusedHeap heap = UnusedHeap.giveBack()) {
      heap.look();
      assertThat(value("MaxHeapFreeRatio")).isEqualTo("60");
      assertThat(value("G1PeriodicGCInterval")).isEqualTo("70000");
    } finally {
      vm.setVMOption("MaxHeapFreeRatio", before);
      vm.setVMOption("G1PeriodicGCInterval", "0");
    }
  }
}
