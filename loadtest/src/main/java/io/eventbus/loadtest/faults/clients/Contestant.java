package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.DurableSubscription;
import io.eventbus.client.Event;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.client.Start;
import io.eventbus.loadtest.faults.history.EventName;
import io.eventbus.loadtest.faults.history.Publication;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import java.net.URI;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Publisher that expects the last event of a topic, which others do as well. What is the last one,
 * it reads from its bus, or is told when it wins.
 */
final class Contestant extends FaultTask {
  private final List<URI> urls;
  private final Random random;
  private final long pauseMillis;
  private final AtomicLong last = new AtomicLong();
  private long number;

  Contestant(String name, List<URI> urls, Recorder recorder, Random random, long pauseMillis) {
    super(name, recorder);
    this.urls = urls;
    this.random = random;
    this.pauseMillis = pauseMillis;
  }

  @Override
  void work() throws InterruptedException {
    try (FaultClient client = new FaultClient(name(), urls, recorder())) {
      DurableSubscription topic =
          client
              .get()
              .replay()
              .journal(FaultTopics.JOURNAL)
              .filter(FaultTopics.CONTEST)
              .from(Start.position(last.get() + 1))
              .handler(event -> last.accumulateAndGet(event.position(), Math::max));
      while (!isStopped() && !topic.ready().toCompletableFuture().isCompletedExceptionally()) {
        pause(random.nextInt((int) (2 * pauseMillis + 1)));
        publish(client);
      }
    }
  }

  private void publish(FaultClient client) {
    EventName event = new EventName(name(), FaultTopics.CONTEST, ++number);
    long expected = last.get();
    long called = recorder().now();
    PublishAnswer answer;
    try {
      Published published =
          client
              .get()
              .publish(
                  FaultTopics.CONTEST,
                  Event.of(EventText.of(event, random)),
                  PublishOptions.expecting(expected))
              .toCompletableFuture()
              .join();
      last.accumulateAndGet(published.position(), Math::max);
      answer = Answers.of(published, null);
    } catch (CompletionException e) {
      answer = Answers.of(null, e);
    }
    recorder().published(new Publication(event, expected, called, recorder().now(), answer));
  }
}
