package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.loadtest.faults.clients.Recorder.OpenReading;
import io.eventbus.loadtest.faults.history.Sighting;
import java.net.URI;
import java.util.List;

/**
 * Subscriber as of any topic, which gets durable events when they are stored. What it reads between
 * two gaps or interruptions is a reading of its own, which has to be without a hole.
 */
final class LiveReader extends FaultTask {
  private static final long CHECK_MILLIS = 50;

  private final List<URI> urls;

  LiveReader(String name, List<URI> urls, Recorder recorder) {
    super(name, recorder);
    this.urls = urls;
  }

  @Override
  void work() throws InterruptedException {
    try (FaultClient client = new FaultClient(name(), urls, recorder())) {
      Subscription subscription = client.get().subscribe(FaultTopics.ALL, new Spans(client));
      while (!isStopped()
          && !subscription.ready().toCompletableFuture().isCompletedExceptionally()) {
        pause(CHECK_MILLIS);
      }
    }
  }

  /** Readings one after the other; one thread at a time. */
  private final class Spans implements EventHandler {
    private final FaultClient client;
    private OpenReading reading = next();

    Spans(FaultClient client) {
      this.client = client;
    }

    private OpenReading next() {
      return recorder().reading(name(), FaultTopics.ALL, 0);
    }

    @Override
    public void onEvent(ReceivedEvent event) {
      reading.seen(
          new Sighting(event.position(), EventText.name(event), recorder().now(), client.where()));
    }

    @Override
    public void onGap(Gap gap) {
      reading = next();
    }

    @Override
    public void onInterruption(Interruption interruption) {
      reading = next();
    }
  }
}
