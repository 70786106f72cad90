package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.Stream;

/** A member that takes calls and does not, in turn, as fast as it can, while many calls wait. */
record CapacityToggle() implements Attack {
  private static final int WAIT_MILLIS = 600_000;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "capacity-toggle";
  }

  @Override
  public String what() {
    return "Capacity 0, 1, 0, 1 and so on by a member for which 9,600 calls wait";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 12L, "each", 800L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd member = HostileCrowd.members(field, 1, 1, n -> "toggled");
    int each = field.knob("each");
    byte[] none = ClientCalls.capacity(1, 0);
    byte[] one = ClientCalls.capacity(1, 1);
    // The waiting call is not to have a place first.
    member.clients().get(0).send(Stream.of(none));
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                HostileServiceClient.numbered(
                    each,
                    call ->
                        ClientCalls.request(call, "toggled", WAIT_MILLIS, WAIT_MILLIS, NOTHING))));
    HostileServiceClient.await(field, "frames", (long) field.knob("conns") * each + 1);
    member.clients().get(0).send(Stream.iterate(one, last -> last == one ? none : one));
    field.untilOver();
  }
}
