package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;

/** No attack: what the machine does to the honest pairs. */
record None() implements Attack {
  @Override
  public String name() {
    return "none";
  }

  @Override
  public String what() {
    return "nothing: the honest pairs alone";
  }

  @Override
  public void run(Field field) throws InterruptedException {
    field.untilOver();
  }
}
