package io.eventbus.loadtest.faults.clients;

import io.eventbus.loadtest.faults.history.BusFault;
import io.eventbus.loadtest.faults.history.ClientConnection;
import io.eventbus.loadtest.faults.history.ConsumerLoss;
import io.eventbus.loadtest.faults.history.Consumption;
import io.eventbus.loadtest.faults.history.Consumption.Delivery;
import io.eventbus.loadtest.faults.history.Consumption.Settlement;
import io.eventbus.loadtest.faults.history.Cut;
import io.eventbus.loadtest.faults.history.History;
import io.eventbus.loadtest.faults.history.Publication;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import io.eventbus.loadtest.faults.history.Reading;
import io.eventbus.loadtest.faults.history.Sighting;
import io.eventbus.loadtest.faults.history.WorkQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** Everything that the clients of a run do and are told. Any thread. */
public final class Recorder {
  private final long origin = System.nanoTime();
  private final AtomicLong confirmed = new AtomicLong();
  private final AtomicLong lastConfirmed = new AtomicLong();
  private final AtomicLong moves = new AtomicLong();
  private final AtomicLong late = new AtomicLong();

  // Guarded by this.
  private final List<ClientConnection> connections = new ArrayList<>();
  private final List<Publication> publications = new ArrayList<>();
  private final List<OpenReading> readings = new ArrayList<>();
  private final Map<String, OpenConsumption> consumptions = new TreeMap<>();
  private final Map<String, OpenQueue> queues = new TreeMap<>();
  private final Set<String> forgotten = new HashSet<>();
  private final List<String> problems = new ArrayList<>();

  /** Returns the time of the run, in nanoseconds. */
  public long now() {
    return System.nanoTime() - origin;
  }

  /** Returns the time of the run at a time of the wall clock, about. */
  long at(Instant time) {
    return now() - Duration.between(time, Instant.now()).toNanos();
  }

  void published(Publication publication) {
    if (publication.answer() instanceof PublishAnswer.Stored stored) {
      confirmed.incrementAndGet();
      lastConfirmed.accumulateAndGet(stored.position(), Math::max);
    }
    synchronized (this) {
      publications.add(publication);
    }
  }

  synchronized void connected(String client, String bus) {
    connections.add(new ClientConnection(client, bus, now()));
  }

  void moved() {
    moves.incrementAndGet();
  }

  /** Returns how often a client was moved to another bus. */
  public long moves() {
    return moves.get();
  }

  /** Counts settlements of workers that their connection did not live to see. */
  void late(long settlements) {
    late.addAndGet(settlements);
  }

  /** Returns the number of these settlements. */
  public long late() {
    return late.get();
  }

  synchronized void forgotten(String producer) {
    forgotten.add(producer);
  }

  /** Notes what should not happen, and is no violation that a history shows. */
  public synchronized void problem(String text) {
    problems.add(text);
  }

  /** Returns what was noted. */
  public synchronized List<String> problems() {
    return List.copyOf(problems);
  }

  /** Returns the number of confirmed publications. */
  public long confirmed() {
    return confirmed.get();
  }

  /** Returns the greatest position that was confirmed. */
  public long lastConfirmed() {
    return lastConfirmed.get();
  }

  /** Begins to record a reader. */
  synchronized OpenReading reading(String reader, String filter, long from) {
    OpenReading reading = new OpenReading(reader, filter, from);
    readings.add(reading);
    return reading;
  }

  /** Returns the record of a durable subscription. */
  synchronized OpenConsumption consumption(String name, String filter) {
    return consumptions.computeIfAbsent(
        name, key -> new OpenConsumption(key, FaultTopics.selectedBy(filter)));
  }

  /** Returns the record of a shared durable subscription. */
  synchronized OpenQueue queue(String name, String filter, WorkQueue.Limits limits) {
    return queues.computeIfAbsent(
        name, key -> new OpenQueue(key, FaultTopics.selectedBy(filter), limits));
  }

  /**
   * Returns all that was recorded.
   *
   * @param faults of the buses
   */
  public synchronized History history(List<Reading> finals, List<BusFault> faults) {
    return new History(
        connections,
        publications,
        readings.stream().map(OpenReading::reading).toList(),
        consumptions.values().stream().map(OpenConsumption::consumption).toList(),
        queues.values().stream().map(OpenQueue::queue).toList(),
        faults,
        finals,
        forgotten);
  }

  /** Reader that still reads. Any thread. */
  static final class OpenReading {
    private final String reader;
    private final Set<String> topics;
    private final long from;
    private final List<Sighting> seen = Collections.synchronizedList(new ArrayList<>());
    private final List<Cut> cuts = Collections.synchronizedList(new ArrayList<>());
    private volatile long last;

    OpenReading(String reader, String filter, long from) {
      this.reader = reader;
      this.topics = FaultTopics.selectedBy(filter);
      this.from = from;
    }

    void seen(Sighting sighting) {
      seen.add(sighting);
      last = sighting.position();
    }

    void cut(Cut cut) {
      cuts.add(cut);
    }

    /** Returns the last position that it got. */
    long last() {
      return last;
    }

    Reading reading() {
      synchronized (seen) {
        return new Reading(reader, topics, from, seen, cuts);
      }
    }
  }

  /** Durable subscription that is still consumed. Any thread. */
  static final class OpenConsumption {
    private final String name;
    private final Set<String> topics;
    private final List<Delivery> delivered = Collections.synchronizedList(new ArrayList<>());
    private final List<Cut> cuts = Collections.synchronizedList(new ArrayList<>());
    private final List<Settlement> settlements = Collections.synchronizedList(new ArrayList<>());
    private final List<ConsumerLoss> losses = Collections.synchronizedList(new ArrayList<>());

    private OpenConsumption(String name, Set<String> topics) {
      this.name = name;
      this.topics = topics;
    }

    void delivered(Delivery delivery) {
      delivered.add(delivery);
    }

    void lost(ConsumerLoss loss) {
      losses.add(loss);
    }

    void cut(Cut cut) {
      cuts.add(cut);
    }

    void settled(Settlement settlement) {
      settlements.add(settlement);
    }

    private Consumption consumption() {
      synchronized (delivered) {
        synchronized (settlements) {
          synchronized (losses) {
            return new Consumption(name, topics, 1, delivered, cuts, settlements, losses);
          }
        }
      }
    }
  }
}
