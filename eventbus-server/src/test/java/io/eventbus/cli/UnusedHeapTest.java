package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** The options are real ones of this JVM. */
class UnusedHeapTest {
  private final HotSpotDiagnosticMXBean vm =
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);

  @Test
  void setsWhatTheUserHasNot() {
    UnusedHeap.giveBack();
    UnusedHeap.giveBack();
    VMOption interval = vm.getVMOption("G1PeriodicGCInterval");
    assertThat(interval.getValue()).isEqualTo("15000");
    assertThat(interval.getOrigin()).isEqualTo(VMOption.Origin.MANAGEMENT);
    assertThat(vm.getVMOption("MinHeapFreeRatio").getValue()).isEqualTo("10");
    assertThat(vm.getVMOption("MaxHeapFreeRatio").getValue()).isEqualTo("25");
    assertThat(Double.parseDouble(vm.getVMOption("G1PeriodicGCSystemLoadThreshold").getValue()))
        .isPositive();
  }
}
