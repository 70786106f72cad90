package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.LongStream;

/** Members of one bus that take calls and do not, in turn, of which every other bus has to hear. */
record ClusterToggle() implements Attack {
  @Override
  public String name() {
    return "cluster-toggle";
  }

  @Override
  public String what() {
    return "Capacity 0, 1, 0, 1 and so on by 10 members of 500 services each at one bus of two; the"
        + " honest are at the other";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 10L, "each", 500L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withCluster();
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int each = field.knob("each");
    HostileCrowd members =
        HostileCrowd.members(field, field.knob("conns"), each, n -> "toggled." + n);
    members
        .clients()
        .forEach(
            member ->
                member.send(
                    LongStream.iterate(0, n -> n + 1)
                        .mapToObj(n -> ClientCalls.capacity(1 + n % each, (int) (n / each % 2)))));
    field.untilOver();
  }
}
