package io.eventbus.loadtest.faults.clients;

import io.eventbus.loadtest.faults.history.Consumption.Settlement;
import io.eventbus.loadtest.faults.history.WorkQueue.DeadLetter;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;

/** All clients of a run. For one thread. */
public final class FaultCrowd implements AutoCloseable {
  /** Names of the durable subscriptions. */
  public static final List<String> SUBSCRIPTIONS = List.of("everything", "named");

  /** Names of the shared durable subscriptions. */
  public static final List<String> QUEUES = WorkTopic.ALL.stream().map(WorkTopic::name).toList();

  private static final Duration END = Duration.ofSeconds(90);
  private static final int PLAIN = 4;
  private static final int NAMED = 3;
  private static final int CONTESTANTS = 3;
  private static final int CONSUMERS = 2;
  private static final int WORKERS = 4;
  private static final int STEADY_WORKERS = 2;
  private static final long CONTEST_MILLIS = 40;

  private final Recorder recorder;
  private final List<FaultTask> publishers = new ArrayList<>();
  private final List<FaultTask> readers = new ArrayList<>();
  private final List<QueueWorker> workers = new ArrayList<>();

  /**
   * Prepares them; starts nothing.
   *
   * @param urls the buses
   * @param rate events a second of all publishers without expectations, about
   */
  public FaultCrowd(List<URI> urls, Recorder recorder, long seed, int rate) {
    this.recorder = recorder;
    Random seeds = new Random(seed);
    long pause = 1_000L * (PLAIN + NAMED) / rate;
    for (int i = 0; i < PLAIN; i++) {
      publishers.add(
          new PlainPublisher("plain-" + i, from(urls, i), recorder, random(seeds), pause));
    }
    for (int i = 0; i < NAMED; i++) {
      String topic = FaultTopics.NAMED + i % FaultTopics.EACH;
      publishers.add(
          new NamedPublisher("named-" + i, topic, from(urls, i), recorder, random(seeds), pause));
    }
    for (int i = 0; i < CONTESTANTS; i++) {
      publishers.add(
          new Contestant(
              "contestant-" + i, from(urls, i), recorder, random(seeds), CONTEST_MILLIS));
    }
    for (int i = 0; i < urls.size(); i++) {
      readers.add(new Replayer("steady-" + i, from(urls, i), recorder, random(seeds), true));
      readers.add(new Replayer("replay-" + i, from(urls, i), recorder, random(seeds), false));
      readers.add(new LiveReader("live-" + i, from(urls, i), recorder));
    }
    for (String subscription : SUBSCRIPTIONS) {
      for (int i = 0; i < CONSUMERS; i++) {
        readers.add(
            new DurableConsumer(
                subscription + "-" + i,
                subscription,
                filter(subscription),
                from(urls, i),
                recorder,
                random(seeds)));
      }
    }
    for (WorkTopic topic : WorkTopic.ALL) {
      for (int i = 0; i < WORKERS; i++) {
        workers.add(
            new QueueWorker(
                topic.name() + "-" + i,
                topic,
                from(urls, i),
                recorder,
                random(seeds),
                i < STEADY_WORKERS));
      }
    }
    readers.addAll(workers);
  }

  private static String filter(String subscription) {
    return subscription.equals("named") ? FaultTopics.NAMED + ">" : FaultTopics.ALL;
  }

  private static Random random(Random seeds) {
    return new Random(seeds.nextLong());
  }

  /** Returns all buses, another one first for each client. */
  private static List<URI> from(List<URI> urls, int first) {
    List<URI> turned = new ArrayList<>(urls);
    Collections.rotate(turned, -(first % urls.size()));
    return List.copyOf(turned);
  }

  /** Starts all. */
  public void start() {
    readers.forEach(FaultTask::start);
    publishers.forEach(FaultTask::start);
  }

  /** Notes how far durable subscriptions are settled, which a function asks some bus for. */
  public void settled(Function<String, OptionalLong> ask) {
    for (String subscription : SUBSCRIPTIONS) {
      ask.apply(subscription)
          .ifPresent(
              upTo ->
                  recorder
                      .consumption(subscription, filter(subscription))
                      .settled(new Settlement(upTo, recorder.now())));
    }
  }

  /** Ends the publishers when all that they have under way is answered. */
  public void stopPublishers() throws InterruptedException {
    end(publishers);
  }

  /** Asks the workers to do all that is left, and nothing else. */
  public void drainQueues() {
    workers.forEach(QueueWorker::drain);
  }

  /**
   * Notes a dead letter of a shared durable subscription.
   *
   * @param attempts deliveries without success
   * @param at the time when it died, by the clock of this machine
   */
  public void dead(String queue, long position, int attempts, String reason, Instant at) {
    WorkTopic.ALL.stream()
        .filter(topic -> topic.name().equals(queue))
        .forEach(
            topic ->
                topic
                    .record(recorder)
                    .dead(new DeadLetter(position, attempts, reason, recorder.at(at))));
  }

  /** Returns the readers that have not come to a position. */
  public List<String> behind(long position) {
    List<String> behind = new ArrayList<>();
    for (FaultTask reader : readers) {
      if (reader instanceof Replayer replayer
          && replayer.isSteady()
          && replayer.last() < position) {
        behind.add(replayer.describe());
      }
    }
    return behind;
  }

  /** Ends the readers. */
  public void stopReaders() throws InterruptedException {
    end(readers);
  }

  private void end(List<FaultTask> tasks) throws InterruptedException {
    tasks.forEach(FaultTask::stop);
    for (FaultTask task : tasks) {
      if (!task.join(END)) {
        recorder.problem(task.name() + " does not end");
      }
    }
    tasks.clear();
  }

  /** Asks all to end, and does not wait. */
  @Override
  public void close() {
    publishers.forEach(FaultTask::stop);
    readers.forEach(FaultTask::stop);
  }
}
