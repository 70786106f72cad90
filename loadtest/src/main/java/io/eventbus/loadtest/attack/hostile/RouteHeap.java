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
 * Many subscribers of everything below a token, and events to very many topics there, as a site of
 * dashboards does: what a bus remembers of topics times subscribers.
 */
record RouteHeap(String name, boolean own) implements Attack {
  private static final int TOPICS_OF_A_CONNECTION = 10_000;
  private static final int TOPICS_OF_A_MESSAGE = 100;
  private static final int MIN_SECONDS = 30;
  private static final int SETTLE_MILLIS = 20_000;

  @Override
  public String what() {
    return "1,000 subscribers of 10,000 topics" + (own ? ", each also with one of its own" : "");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 1_000L, "topics", 10_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int conns = field.knob("conns");
    int topics = field.knob("topics");
    if (own) {
      ownSubscriptions(field, topics);
    }
    byte[] subscribe = ClientFrames.subscribe(1, "routes.>", Overflow.DROP_OLDEST);
    Swarm swarm =
        new Swarm(
                field,
                Opening.client(field.bus()),
                conns,
                i ->
                    new HostileSubscriber(
                        field.tally(), List.of(subscribe), HostileSubscriber.ALL, false))
            .fill();
    swarm.awaitWelcomed(conns, SETTLE_MILLIS);
    HostileSender sender = HostileSender.connect(field);
    if (sender == null) {
      return;
    }
    byte[] payload = new byte[1];
    // Each topic once: a second event would have the bus look again who wants it.
    for (int first = 0; first < topics; first += TOPICS_OF_A_MESSAGE) {
      List<byte[]> frames = new ArrayList<>();
      for (int i = first; i < Math.min(topics, first + TOPICS_OF_A_MESSAGE); i++) {
        frames.add(ClientFrames.publish("routes." + i, 1, false, 1, payload));
      }
      if (!sender.send(frames.toArray(byte[][]::new))) {
        return;
      }
      field.tally().add("published", frames.size());
    }
    field.untilOver();
  }

  private static void ownSubscriptions(Field field, int topics) throws InterruptedException {
    int conns = (topics + TOPICS_OF_A_CONNECTION - 1) / TOPICS_OF_A_CONNECTION;
    new Swarm(
            field,
            Opening.client(field.bus()),
            conns,
            i -> {
              List<byte[]> subscribes = new ArrayList<>();
              for (int t = i * TOPICS_OF_A_CONNECTION;
                  t < Math.min(topics, (i + 1) * TOPICS_OF_A_CONNECTION);
                  t++) {
                subscribes.add(ClientFrames.subscribe(t + 1, "routes." + t, Overflow.DROP_OLDEST));
              }
              return new HostileSubscriber(field.tally(), subscribes, HostileSubscriber.ALL, false);
            })
        .fill();
    while (!field.over()
        && field.tally().get("subscribed") + field.tally().get("refused") < topics) {
      field.sleep(20);
    }
  }
}
