package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.client.WorkDelivery;
import io.eventbus.client.Worker;
import io.eventbus.loadtest.faults.history.ConsumerLoss;
import io.eventbus.loadtest.faults.history.Sighting;
import io.eventbus.loadtest.faults.history.WorkQueue;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Worker of a shared durable subscription: it settles events in all ways, ends in order, closes its
 * client or loses its connection, and begins again. When it {@link #drain drains}, it only works. A
 * steady one never ends by itself: events that its bus has forgotten stay with it for ever.
 */
final class QueueWorker extends FaultTask {
  private static final long CHECK_MILLIS = 50;
  private static final int MAX_LIFE_MILLIS = 10_000;
  private static final long END_SECONDS = 10;
  private static final int UNSETTLED = 32;
  private static final int CONCURRENCY = 4;
  private static final int MAX_WORK_MILLIS = 10;

  private final List<URI> urls;
  private final WorkTopic topic;
  private final Random random;
  private final OpenQueue queue;
  private final boolean steady;
  private volatile boolean draining;

  QueueWorker(
      String name,
      WorkTopic topic,
      List<URI> urls,
      Recorder recorder,
      Random random,
      boolean steady) {
    super(name, recorder);
    this.steady = steady;
    this.topic = topic;
    this.urls = urls;
    this.random = random;
    this.queue = topic.record(recorder);
  }

  /** Asks it to work only, and to stay; any thread. */
  void drain() {
    draining = true;
  }

  @Override
  void work() throws InterruptedException {
    List<CutPath> paths = urls.stream().map(CutPath::new).toList();
    List<URI> cuttable = paths.stream().map(CutPath::url).toList();
    try (FaultClient client = new FaultClient(name(), cuttable, recorder(), new Watch())) {
      while (!isStopped()) {
        consume(client, paths);
      }
      lost(ConsumerLoss.Kind.END);
    } finally {
      paths.forEach(CutPath::close);
    }
  }

  private void consume(FaultClient client, List<CutPath> paths) throws InterruptedException {
    WorkQueue.Limits limits = topic.limits();
    Worker worker =
        client
            .get()
            .durable(topic.name())
            .journal(FaultTopics.JOURNAL)
            .filter(topic.filter())
            .from(Start.FIRST)
            .shared()
            .maxUnsettled(UNSETTLED)
            .ackTimeout(Duration.ofNanos(limits.ackNanos()))
            .maxAttempts(limits.maxAttempts())
            .concurrency(CONCURRENCY)
            .handler(new Handler(client)::handle);
    boolean ended = false;
    while (!isStopped() && !ended) {
      ended = await(worker) || end(client, worker, paths);
    }
    recorder().late(worker.counters().late());
  }

  /** Waits for a time of chance; returns true if the worker has failed meanwhile. */
  private boolean await(Worker worker) throws InterruptedException {
    long end = System.nanoTime() + (2_000 + random.nextInt(MAX_LIFE_MILLIS)) * 1_000_000L;
    while (!isStopped() && (steady || draining || System.nanoTime() - end < 0)) {
      if (worker.ready().toCompletableFuture().isCompletedExceptionally()) {
        return true;
      }
      pause(CHECK_MILLIS);
    }
    return false;
  }

  /** Ends the worker, or its connection; returns whether the worker has ended. */
  private boolean end(FaultClient client, Worker worker, List<CutPath> paths)
      throws InterruptedException {
    switch (random.nextInt(3)) {
      case 0 -> {
        if (paths.stream().anyMatch(CutPath::isOpen)) {
          lost(ConsumerLoss.Kind.CUT);
          client.cutting();
          paths.forEach(CutPath::cut);
        }
        return false;
      }
      case 1 -> {
        lost(ConsumerLoss.Kind.END);
        client.renew();
      }
      default -> {
        lost(ConsumerLoss.Kind.END);
        try {
          worker.unsubscribe().toCompletableFuture().get(END_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
          // The bus is away; the next worker begins all the same.
          client.renew();
        }
      }
    }
    return true;
  }

  private void lost(ConsumerLoss.Kind kind) {
    queue.lost(new ConsumerLoss(name(), kind, recorder().now()));
  }

  private final class Watch implements FaultClient.Watch {
    @Override
    public void disconnected() {
      lost(ConsumerLoss.Kind.DISCONNECTED);
    }

    @Override
    public void ended() {
      lost(ConsumerLoss.Kind.REPLACED);
    }

    @Override
    public void truncated(Truncated truncated) {
      queue.cut(Replayer.cut(truncated));
    }
  }

  /** Handler of a worker until that ends. */
  private final class Handler {
    private final FaultClient client;
    private final long begun = recorder().now();

    Handler(FaultClient client) {
      this.client = client;
    }

    void handle(ReceivedEvent event, WorkDelivery delivery) throws InterruptedException {
      Sighting seen =
          new Sighting(event.position(), EventText.name(event), recorder().now(), client.where());
      OpenQueue.OpenWork work =
          queue.delivered(
              new WorkQueue.Worker(name(), client.bus(), begun), seen, delivery.attempt());
      TimeUnit.MILLISECONDS.sleep(random.nextInt(MAX_WORK_MILLIS));
      new WorkChoice(recorder(), random, work, delivery).settle(!draining, topic.letsPass());
    }
  }
}
