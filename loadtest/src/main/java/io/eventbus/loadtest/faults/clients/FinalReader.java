package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.loadtest.faults.clients.Recorder.OpenReading;
import io.eventbus.loadtest.faults.history.Reading;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Reader of a whole journal at one bus, when everything is over. */
public final class FinalReader {
  private static final long POLL_MILLIS = 20;

  private FinalReader() {}

  /** Returns how many positions its bus told to be damaged. */
  public static long damaged(Reading reading) {
    return reading.cuts().stream()
        .filter(cut -> cut.reason().equals(Truncated.Reason.DAMAGED.name()))
        .mapToLong(cut -> cut.to() - cut.from() + 1)
        .sum();
  }

  /**
   * Reads everything.
   *
   * @param last the position up to which it has to come
   * @return what it has read when it was there, or at the deadline; empty if the bus took no client
   */
  public static Optional<Reading> read(
      String bus, URI url, long last, Recorder recorder, Duration deadline)
      throws InterruptedException {
    long end = System.nanoTime() + deadline.toNanos();
    while (System.nanoTime() - end < 0) {
      try (FaultClient client = new FaultClient("final-" + bus, List.of(url), recorder)) {
        OpenReading reading = new Recorder.OpenReading(bus, FaultTopics.ALL, 1);
        DurableSubscription all =
            client
                .get()
                .replay()
                .journal(FaultTopics.JOURNAL)
                .filter(FaultTopics.ALL)
                .from(Start.FIRST)
                .handler(Replayer.recording(client, recorder, reading));
        while (all.position() < last
            && System.nanoTime() - end < 0
            && !all.ready().toCompletableFuture().isCompletedExceptionally()) {
          TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
        boolean here = client.get().connection().map(ConnectionInfo::bus).orElse("").equals(bus);
        if (here && (all.position() >= last || System.nanoTime() - end >= 0)) {
          return Optional.of(reading.reading());
        }
      } catch (EventBusException e) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
    return Optional.empty();
  }
}
