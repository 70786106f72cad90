package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.loadtest.faults.history.EventName;
import io.eventbus.loadtest.faults.history.Publication;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Publication at one bus, tried again until it is confirmed. */
public final class Probe {
  private static final String TOPIC = FaultTopics.NAMED + 0;
  private static final long AGAIN_MILLIS = 100;

  private Probe() {}

  /**
   * Publishes.
   *
   * @return whether it was confirmed
   */
  public static boolean publish(String bus, URI url, Recorder recorder, Duration deadline)
      throws InterruptedException {
    EventName event = new EventName("probe-" + bus, TOPIC, 1);
    byte[] payload = EventText.of(event, new Random(0));
    long called = recorder.now();
    long end = System.nanoTime() + deadline.toNanos();
    PublishAnswer answer = new PublishAnswer.Unknown("not connected");
    while (System.nanoTime() - end < 0) {
      try (FaultClient client = new FaultClient(event.producer(), List.of(url), recorder)) {
        Published published =
            client
                .get()
                .publish(TOPIC, Event.of(payload), PublishOptions.producer(event.producer(), 1))
                .toCompletableFuture()
                .join();
        answer = Answers.of(published, null);
        break;
      } catch (CompletionException e) {
        answer = Answers.of(null, e);
      } catch (EventBusException e) {
        answer = Answers.of(null, e);
      }
      TimeUnit.MILLISECONDS.sleep(AGAIN_MILLIS);
    }
    recorder.published(new Publication(event, Publication.NOTHING, called, recorder.now(), answer));
    return answer instanceof PublishAnswer.Stored;
  }
}
