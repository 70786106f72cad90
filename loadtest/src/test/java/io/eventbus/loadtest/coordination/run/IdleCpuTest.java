package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IdleCpuTest {
  private final IdleCpu idle = new IdleCpu();

  @Test
  void itIsOfOneServerInPercent() {
    idle.begin(new CpuTimes(Map.of(1L, 100L, 2L, 50L)), 1_000);
    idle.end(new CpuTimes(Map.of(1L, 110L, 2L, 60L)), 2_000);
    assertThat(idle.percent()).isEqualTo(1);
  }

  @Test
  void anotherProcessMakesTheIntervalWorthless() {
    idle.begin(new CpuTimes(Map.of(1L, 100L, 2L, 50L)), 1_000);
    idle.end(new CpuTimes(Map.of(1L, 110L, 3L, 1L)), 2_000);
    assertThat(idle.percent()).isEqualTo(-1);
  }

  @Test
  void aDisturbedIntervalDoesNotCount() {
    idle.begin(new CpuTimes(Map.of(1L, 100L)), 1_000);
    idle.disturb();
    idle.end(new CpuTimes(Map.of(1L, 900L)), 2_000);
    assertThat(idle.percent()).isEqualTo(-1);
  }

  @Test
  void aTickThatTheKernelTookBackIsNoTime() {
    CpuTimes before = new CpuTimes(Map.of(1L, 20L, 2L, 20L));
    assertThat(new CpuTimes(Map.of(1L, 10L, 2L, 50L)).since(before)).isEqualTo(30);
  }

  @Test
  void ofAnotherSetOfProcessesNothingIsKnown() {
    CpuTimes before = new CpuTimes(Map.of(1L, 1L));
    assertThat(new CpuTimes(Map.of()).since(before)).isEqualTo(-1);
    assertThat(CpuTimes.ofThis().since(CpuTimes.ofThis())).isNotNegative();
    assertThat(CpuTimes.of(List.of()).processes()).isZero();
  }
}
