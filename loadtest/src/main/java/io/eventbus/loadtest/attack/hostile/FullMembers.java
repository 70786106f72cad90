package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Calls in a hurry of a service with very many members, all of which are busy for good. */
record FullMembers() implements Attack {
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "full-members";
  }

  @Override
  public String what() {
    return "calls with a millisecond each of a service whose 4,000 members are busy";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("members", 4_000L, "conns", 4L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(
        field, field.knob("members"), 1, n -> "full", frames -> new Once(field, frames));
    field.tally().add("began", 1);
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                LongStream.iterate(1, n -> n + 1)
                    .mapToObj(n -> ClientCalls.request(n, "full", 1, 0, NOTHING))));
    field.untilOver();
  }

  /** Answers one call. */
  private static final class Once extends HostileServiceClient {
    private boolean answered;

    Once(Field field, Stream<byte[]> frames) {
      super(field.tally(), frames);
    }

    @Override
    void invoked(AttackWire wire, long call) {
      if (!answered) {
        answered = true;
        wire.sendMessage(ClientCalls.reply(call, NOTHING, 0));
      }
    }
  }
}
