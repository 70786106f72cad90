package io.eventbus.loadtest.attack.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessFiguresTest {
  @Test
  void readsTheHeapOfG1() {
    String info =
        """
        123:
         garbage-first heap   total 262144K, used 12345K [0x00000000f0000000, 0x0000000100000000)
          region size 1024K, 5 young (5120K), 1 survivors (1024K)
         Metaspace       used 30000K, committed 30592K, reserved 1114112K
          class space    used 3000K, committed 3264K, reserved 1048576K
        """;
    assertThat(ProcessFigures.heap(info)).isEqualTo(12345L * 1024);
  }

  @Test
  void addsTheGenerationsOfTheSerialCollector() {
    String info =
        """
         def new generation   total 78656K, used 1000K [0x0, 0x1, 0x2)
          eden space 69952K,   2% used [0x0, 0x1, 0x2)
         tenured generation   total 174784K, used 20K [0x0, 0x1, 0x2)
           the space 174784K,   0% used [0x0, 0x1, 0x2, 0x3)
         Metaspace       used 3K, committed 4K, reserved 5K
        """;
    assertThat(ProcessFigures.heap(info)).isEqualTo(1020L * 1024);
  }

  @Test
  void saysThatItDoesNotKnow() {
    assertThat(ProcessFigures.heap("123: no such process")).isNegative();
  }
}
