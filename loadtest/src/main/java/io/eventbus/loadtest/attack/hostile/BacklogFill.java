package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Publishers that also call, so that the bus reads on while their events wait for full queues, and
 * keeps what it has read: first each an event, then all at one moment as much as the bus takes.
 */
record BacklogFill() implements Attack {
  private static final String TOPIC = "backlog";
  private static final int PAYLOAD = 16 * 1024;
  private static final int MIN_SECONDS = 15;
  private static final int FULL = 1_000;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "backlog-fill";
  }

  @Override
  public String what() {
    return "150 callers that publish to 200 subscribers under BLOCK that never read";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 150L * Math.max(1, heapMegabytes / 256), "subs", 200L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int conns = field.knob("conns");
    int subs = field.knob("subs");
    byte[] publish = ClientFrames.publish(TOPIC, 1, false, 1, new byte[PAYLOAD]);
    HostileCrowd callers =
        new HostileCrowd(
            field,
            conns,
            i ->
                new HostileServiceClient(
                    field.tally(), Stream.of(ClientCalls.request(1, "nobody", 1_000, 0, NOTHING))));
    HostileServiceClient.await(field, "failures", conns);
    new Swarm(
            field,
            Opening.client(field.bus()).withReceiveBuffer(4096),
            subs,
            i ->
                new HostileSubscriber(
                    field.tally(),
                    List.of(ClientFrames.subscribe(1, TOPIC, Overflow.BLOCK)),
                    HostileSubscriber.NOTHING,
                    false))
        .fill();
    HostileServiceClient.await(field, "subscribed", subs);
    callers.clients().get(0).send(Stream.generate(() -> publish).limit(FULL));
    field.sleep(FULL);
    callers.clients().forEach(client -> client.send(Stream.generate(() -> publish)));
    field.untilOver();
  }
}
