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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Publisher with a name and numbers of its own, such as the relay of an outbox: it publishes some
 * events at once, and those that were not answered again in their order, also over connections that
 * it ends as a killed program does.
 */
final class NamedPublisher extends FaultTask {
  private static final int AT_ONCE = 8;
  private static final long AGAIN_MILLIS = 50;
  private static final int RENEW_ONE_IN = 50;

  /** After it was stopped, an event has this time to be answered. */
  private static final long LAST_NANOS = Duration.ofSeconds(60).toNanos();

  private final List<URI> urls;
  private final String topic;
  private final Random random;
  private final long pauseMillis;
  private final List<Outstanding> outstanding = new ArrayList<>();
  private long number;

  NamedPublisher(
      String name,
      String topic,
      List<URI> urls,
      Recorder recorder,
      Random random,
      long pauseMillis) {
    super(name, recorder);
    this.topic = topic;
    this.urls = urls;
    this.random = random;
    this.pauseMillis = pauseMillis;
  }

  /** Event that was published once at least. */
  private record Outstanding(EventName event, Event payload, long called) {}

  @Override
  void work() throws InterruptedException {
    try (FaultClient client = new FaultClient(name(), urls, recorder())) {
      // What a connection has left comes before new events.
      oneByOne(client);
      while (!isStopped()) {
        pause(random.nextInt((int) (2 * pauseMillis * AT_ONCE + 1)));
        atOnce(client);
        oneByOne(client);
      }
    } finally {
      if (isStopped()) {
        outstanding.forEach(left -> record(left, new PublishAnswer.Unknown("given up")));
        outstanding.clear();
      }
    }
  }

  private void atOnce(FaultClient client) {
    List<CompletionStage<Published>> stages = new ArrayList<>();
    for (int i = 1 + random.nextInt(AT_ONCE); i > 0; i--) {
      EventName event = new EventName(name(), topic, ++number);
      Outstanding next =
          new Outstanding(event, Event.of(EventText.of(event, random)), recorder().now());
      outstanding.add(next);
      stages.add(publish(client, next));
    }
    if (random.nextInt(RENEW_ONE_IN) == 0) {
      // While they are under way.
      client.renew();
    }
    List<Outstanding> all = List.copyOf(outstanding);
    for (int i = 0; i < stages.size(); i++) {
      PublishAnswer answer = await(stages.get(i));
      if (!(answer instanceof PublishAnswer.Unknown)) {
        answered(all.get(i), answer);
      }
    }
  }

  private CompletionStage<Published> publish(FaultClient client, Outstanding event) {
    return client
        .get()
        .publish(topic, event.payload(), PublishOptions.producer(name(), event.event().number()));
  }

  private static PublishAnswer await(CompletionStage<Published> stage) {
    try {
      return Answers.of(stage.toCompletableFuture().join(), null);
    } catch (CompletionException e) {
      return Answers.of(null, e);
    }
  }

  private void oneByOne(FaultClient client) throws InterruptedException {
    long end = Long.MAX_VALUE;
    while (!outstanding.isEmpty()) {
      if (isStopped()) {
        end = end == Long.MAX_VALUE ? System.nanoTime() + LAST_NANOS : end;
        if (System.nanoTime() - end > 0) {
          return;
        }
      }
      Outstanding first = outstanding.get(0);
      PublishAnswer answer = await(publish(client, first));
      if (!(answer instanceof PublishAnswer.Unknown unknown)) {
        answered(first, answer);
      } else if (unknown.why().equals("SEQUENCE_GAP")) {
        // The bus will never answer otherwise.
        answered(first, unknown);
      } else if (unknown.why().equals("Closed")) {
        throw new EventBusException.Closed(name());
      } else {
        Thread.sleep(AGAIN_MILLIS);
      }
    }
  }

  private void answered(Outstanding event, PublishAnswer answer) {
    outstanding.remove(event);
    record(event, answer);
  }

  private void record(Outstanding event, PublishAnswer answer) {
    recorder()
        .published(
            new Publication(
                event.event(), Publication.NOTHING, event.called(), recorder().now(), answer));
  }
}
