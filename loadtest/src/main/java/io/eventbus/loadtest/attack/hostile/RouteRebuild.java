package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Very many subscriptions that match the topics of the honest pairs, and one that comes and goes:
 * the subscribers of a topic are found anew each time.
 */
record RouteRebuild(String name, boolean reconnects) implements Attack {
  private static final List<String> FILTERS =
      List.of(">", "*.>", "*.*", "honest.>", "honest.*", "*.1", "*.0");
  private static final int GROUPS = 4;
  private static final int MIN_SECONDS = 10;
  private static final int SETTLE_MILLIS = 20_000;

  @Override
  public String what() {
    return "90,000 matching subscriptions, one more "
        + (reconnects ? "comes with each new connection" : "comes and goes without end");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 1_000L, "rate", reconnects ? 100L : 200L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int conns = field.knob("conns");
    List<byte[]> subscribes = subscribes();
    Swarm swarm =
        new Swarm(
                field,
                Opening.client(field.bus()),
                conns,
                i -> new HostileSubscriber(field.tally(), subscribes, HostileSubscriber.ALL, false))
            .fill();
    swarm.awaitWelcomed(conns, SETTLE_MILLIS);
    int millis = (int) Math.max(1, 1_000L / Math.max(1, field.knob("rate")));
    if (reconnects) {
      Newcomer guest = new Newcomer(field, ">", Overflow.CONFLATE);
      while (!field.over()) {
        field.wires().open(Opening.client(field.bus()), guest);
        field.sleep(millis);
      }
      return;
    }
    HostileSender sender = HostileSender.connect(field);
    for (long id = 1; sender != null && !field.over(); id++) {
      byte[] come = ClientFrames.subscribe(id, ">", Overflow.CONFLATE);
      if (!sender.send(come, ClientFrames.unsubscribe(id))) {
        return;
      }
      field.tally().add("changes", 2);
      field.sleep(millis);
    }
  }

  private static List<byte[]> subscribes() {
    List<byte[]> frames = new ArrayList<>();
    for (String filter : FILTERS) {
      for (Overflow overflow :
          List.of(Overflow.DROP_OLDEST, Overflow.CONFLATE, Overflow.DISCONNECT)) {
        frames.add(ClientFrames.subscribe(frames.size(), filter, overflow));
        for (int g = 0; g < GROUPS; g++) {
          frames.add(ClientFrames.subscribe(frames.size(), filter, "group-" + g, overflow));
        }
      }
    }
    return frames;
  }
}
