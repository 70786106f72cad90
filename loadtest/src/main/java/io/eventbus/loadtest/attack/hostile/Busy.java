package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import java.util.Map;

/** No attack either: a process that takes processor time as an attacker does. */
record Busy() implements Attack {
  @Override
  public String name() {
    return "busy";
  }

  @Override
  public String what() {
    return "a process beside the bus that only computes";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("threads", 2L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    for (int i = 0; i < field.knob("threads"); i++) {
      Thread spinning =
          new Thread(
              () -> {
                while (!field.over()) {
                  Thread.onSpinWait();
                }
              },
              "busy-" + i);
      spinning.setDaemon(true);
      spinning.start();
    }
    field.untilOver();
  }
}
