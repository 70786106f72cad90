package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.loadtest.faults.clients.Recorder.OpenReading;
import io.eventbus.loadtest.faults.history.Sighting;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * Subscriber as of any topic, which gets durable events when they are stored. A gap or an
 * interruption tells of a hole in what it reads; the first events behind the hole may come before
 * that, because a bus of a cluster delivers before it confirms a subscription.
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
      Spans spans = new Spans(client);
      Subscription subscription = client.get().subscribe(FaultTopics.ALL, spans);
      try {
        while (!isStopped()
            && !subscription.ready().toCompletableFuture().isCompletedExceptionally()) {
          pause(CHECK_MILLIS);
        }
      } finally {
        spans.end();
      }
    }
  }

  /** Readings one after the other, each without a hole that was told. Any thread. */
  private final class Spans implements EventHandler {
    private final FaultClient client;

    // Guarded by this.
    private final List<Sighting> span = new ArrayList<>();
    private int hole;
    private boolean ended;

    Spans(FaultClient client) {
      this.client = client;
    }

    @Override
    public synchronized void onEvent(ReceivedEvent event) {
      if (ended) {
        return;
      }
      Sighting seen =
          new Sighting(event.position(), EventText.name(event), recorder().now(), client.where());
      if (!span.isEmpty() && seen.position() != span.get(span.size() - 1).position() + 1) {
        hole = span.size();
      }
      span.add(seen);
    }

    @Override
    public void onGap(Gap gap) {
      told();
    }

    @Override
    public void onInterruption(Interruption interruption) {
      told();
    }

    /** Ends the reading before its last hole, or here if it has none. */
    private synchronized void told() {
      List<Sighting> before = span.subList(0, hole > 0 ? hole : span.size());
      record(before);
      before.clear();
      hole = 0;
    }

    synchronized void end() {
      record(span);
      ended = true;
    }

    private void record(List<Sighting> events) {
      OpenReading reading = recorder().reading(name(), FaultTopics.ALL, 0);
      events.forEach(reading::seen);
    }
  }
}
