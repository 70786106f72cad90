package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.loadtest.faults.clients.Recorder.OpenReading;
import io.eventbus.loadtest.faults.history.Cut;
import io.eventbus.loadtest.faults.history.Sighting;
import java.net.URI;
import java.util.List;
import java.util.Random;

/**
 * Reader without a name. A steady one reads everything from the first event on; another one begins
 * again and again at a position of chance, with a filter of chance.
 */
final class Replayer extends FaultTask {
  private static final long CHECK_MILLIS = 50;
  private static final int MAX_READING_MILLIS = 8_000;
  private static final List<String> FILTERS =
      List.of(FaultTopics.ALL, FaultTopics.PLAIN + ">", FaultTopics.NAMED + ">");

  private final List<URI> urls;
  private final Random random;
  private final boolean steady;
  private long greatest;
  private volatile long last;
  private volatile String state = "not connected";

  Replayer(String name, List<URI> urls, Recorder recorder, Random random, boolean steady) {
    super(name, recorder);
    this.urls = urls;
    this.random = random;
    this.steady = steady;
  }

  /** Returns the last position that it got. */
  long last() {
    return last;
  }

  /** Returns where it is, and what the bus has said. */
  String describe() {
    return name() + " at position " + last + ", " + state;
  }

  /** Returns whether it reads everything. */
  boolean isSteady() {
    return steady;
  }

  @Override
  void work() throws InterruptedException {
    try (FaultClient client = new FaultClient(name(), urls, recorder())) {
      while (!isStopped()) {
        read(client);
      }
    }
  }

  private void read(FaultClient client) throws InterruptedException {
    String filter = steady ? FaultTopics.ALL : FILTERS.get(random.nextInt(FILTERS.size()));
    long from = steady ? 1 : 1 + random.nextInt((int) Math.min(greatest + 1, Integer.MAX_VALUE));
    OpenReading reading = recorder().reading(name() + " " + filter + " from " + from, filter, from);
    DurableSubscription subscription =
        client
            .get()
            .replay()
            .journal(FaultTopics.JOURNAL)
            .filter(filter)
            .from(from == 1 ? Start.FIRST : Start.position(from))
            .handler(recording(client, recorder(), reading));
    long end = System.nanoTime() + (1_000 + random.nextInt(MAX_READING_MILLIS)) * 1_000_000L;
    while (!isStopped()
        && (steady || System.nanoTime() - end < 0)
        && !subscription.ready().toCompletableFuture().isCompletedExceptionally()) {
      pause(CHECK_MILLIS);
      last = reading.last();
      greatest = Math.max(greatest, last);
      state =
          client.where()
              + ", handled up to "
              + subscription.position()
              + ", lag "
              + subscription.lag()
              + ", last problem: "
              + client.lastProblem();
    }
    var unused = subscription.unsubscribe();
  }

  static DurableHandler recording(FaultClient client, Recorder recorder, OpenReading reading) {
    return new DurableHandler() {
      @Override
      public void onEvent(ReceivedEvent event) {
        reading.seen(
            new Sighting(event.position(), EventText.name(event), recorder.now(), client.where()));
      }

      @Override
      public void onTruncated(Truncated truncated) {
        reading.cut(cut(truncated));
      }
    };
  }

  static Cut cut(Truncated truncated) {
    return new Cut(truncated.from(), truncated.to(), truncated.reason().name());
  }
}
