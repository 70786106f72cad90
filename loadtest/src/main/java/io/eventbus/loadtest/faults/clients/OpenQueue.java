package io.eventbus.loadtest.faults.clients;

import io.eventbus.loadtest.faults.history.ConsumerLoss;
import io.eventbus.loadtest.faults.history.Cut;
import io.eventbus.loadtest.faults.history.Sighting;
import io.eventbus.loadtest.faults.history.WorkQueue;
import io.eventbus.loadtest.faults.history.WorkQueue.Answer;
import io.eventbus.loadtest.faults.history.WorkQueue.DeadLetter;
import io.eventbus.loadtest.faults.history.WorkQueue.Delivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import io.eventbus.loadtest.faults.history.WorkQueue.Settlement;
import io.eventbus.loadtest.faults.history.WorkQueue.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Record of a shared durable subscription that is still worked on. Any thread. */
final class OpenQueue {
  private final String name;
  private final Set<String> topics;
  private final WorkQueue.Limits limits;

  // Guarded by this.
  private final List<OpenWork> work = new ArrayList<>();
  private final List<ConsumerLoss> losses = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();
  private final List<DeadLetter> dead = new ArrayList<>();

  OpenQueue(String name, Set<String> topics, WorkQueue.Limits limits) {
    this.name = name;
    this.topics = topics;
    this.limits = limits;
  }

  /** Notes a delivery, before it is handled. */
  synchronized OpenWork delivered(Worker worker, Sighting seen, int attempt) {
    OpenWork delivery = new OpenWork(worker, seen, attempt);
    work.add(delivery);
    return delivery;
  }

  synchronized void lost(ConsumerLoss loss) {
    losses.add(loss);
  }

  synchronized void cut(Cut cut) {
    cuts.add(cut);
  }

  synchronized void dead(DeadLetter letter) {
    dead.add(letter);
  }

  synchronized WorkQueue queue() {
    List<Delivery> deliveries = work.stream().map(OpenWork::delivery).toList();
    return new WorkQueue(name, topics, limits, deliveries, losses, cuts, dead);
  }

  /** Delivery whose settlement may still be answered. Any thread. */
  static final class OpenWork {
    private final Worker worker;
    private final Sighting seen;
    private final int attempt;
    private volatile @Nullable Settlement settlement;

    private OpenWork(Worker worker, Sighting seen, int attempt) {
      this.worker = worker;
      this.seen = seen;
      this.attempt = attempt;
    }

    /** Notes a settlement that is about to happen. */
    void settles(Outcome outcome, long called, long delayNanos) {
      settlement = new Settlement(outcome, called, delayNanos, Answer.UNKNOWN);
    }

    /** Notes the answer to a settlement. */
    void answered(Answer answer) {
      Settlement asked = settlement;
      if (asked != null) {
        settlement = new Settlement(asked.outcome(), asked.called(), asked.delayNanos(), answer);
      }
    }

    private Delivery delivery() {
      return new Delivery(worker, seen, attempt, settlement);
    }
  }
}
