package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.Event;
import io.eventbus.loadtest.faults.history.EventName;
import io.eventbus.loadtest.faults.history.Publication;
import java.net.URI;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Publisher that the bus knows by its connection: the SDK numbers its events, and sends again what
 * was not confirmed. It has several events under way, and goes on after each failure.
 */
final class PlainPublisher extends FaultTask {
  private static final int WINDOW = 32;

  private final List<URI> urls;
  private final Random random;
  private final long pauseMillis;
  private final Semaphore window = new Semaphore(WINDOW);
  private long number;

  PlainPublisher(String name, List<URI> urls, Recorder recorder, Random random, long pauseMillis) {
    super(name, recorder);
    this.urls = urls;
    this.random = random;
    this.pauseMillis = pauseMillis;
  }

  @Override
  void work() throws InterruptedException {
    try (FaultClient client = new FaultClient(name(), urls, recorder())) {
      while (!isStopped()) {
        pause(random.nextInt((int) (2 * pauseMillis + 1)));
        if (window.tryAcquire(1, TimeUnit.SECONDS)) {
          publish(client, FaultTopics.PLAIN + random.nextInt(FaultTopics.EACH));
        }
      }
      // Every event is answered, or fails at the SDK's deadline.
      window.acquire(WINDOW);
    }
  }

  private void publish(FaultClient client, String topic) {
    EventName event = new EventName(name(), topic, ++number);
    Event payload = Event.of(EventText.of(event, random));
    long called = recorder().now();
    try {
      var unused =
          client
              .get()
              .publish(topic, payload)
              .whenComplete(
                  (published, failure) -> {
                    recorder()
                        .published(
                            new Publication(
                                event,
                                Publication.NOTHING,
                                called,
                                recorder().now(),
                                Answers.of(published, failure)));
                    window.release();
                  });
    } catch (RuntimeException e) {
      window.release();
      throw e;
    }
  }
}
