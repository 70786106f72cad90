package io.eventbus.loadtest.faults.history;

import io.eventbus.loadtest.faults.history.WorkQueue.Answer;
import io.eventbus.loadtest.faults.history.WorkQueue.DeadLetter;
import io.eventbus.loadtest.faults.history.WorkQueue.Delivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rules of what the workers of shared durable subscriptions got. */
final class WorkRules {
  /** Order of the deliveries of an event: handlers may run late, and the bus numbers them. */
  private static final Comparator<Delivery> ORDER =
      Comparator.comparingInt(Delivery::attempt)
          .thenComparingLong(delivery -> delivery.seen().at());

  /** Maximum number of deliveries that a finding names. */
  private static final int MAX_STORY = 20;

  private final WorkQueue queue;
  private final FinalLog log;
  private final Findings findings;
  private final ConsumerLosses losses;
  private final Map<EventName, Long> published;
  private final Map<Long, List<Delivery>> byPosition = new HashMap<>();
  private final Map<Long, DeadLetter> dead = new HashMap<>();

  private WorkRules(
      WorkQueue queue,
      History history,
      Map<EventName, Long> published,
      FinalLog log,
      Findings findings) {
    this.queue = queue;
    this.log = log;
    this.findings = findings;
    this.published = published;
    losses = new ConsumerLosses(queue.losses(), history.faults());
    for (Delivery delivery : queue.deliveries()) {
      byPosition
          .computeIfAbsent(delivery.seen().position(), key -> new ArrayList<>(1))
          .add(delivery);
    }
    byPosition.values().forEach(deliveries -> deliveries.sort(ORDER));
    queue.dead().forEach(letter -> dead.put(letter.position(), letter));
  }

  static void check(History history, FinalLog log, Findings findings) {
    Map<EventName, Long> published = history.published();
    for (WorkQueue queue : history.queues()) {
      WorkRules rules = new WorkRules(queue, history, published, log, findings);
      for (long position : log.positions()) {
        if (queue.topics().contains(log.event(position).topic())) {
          rules.handled(position);
        }
      }
      rules.byPosition.values().forEach(rules::deliveries);
      rules.dead.values().forEach(rules::dead);
    }
  }

  /** Looks at what became of the last delivery. */
  private void handled(long position) {
    if (dead.containsKey(position) || Reading.isCut(queue.cuts(), position)) {
      return;
    }
    List<Delivery> deliveries = byPosition.getOrDefault(position, List.of());
    int last = deliveries.isEmpty() ? 0 : deliveries.get(deliveries.size() - 1).attempt();
    boolean done =
        deliveries.stream()
            .filter(delivery -> delivery.attempt() == last)
            .anyMatch(WorkRules::isDone);
    if (!done) {
      add(
          HistoryRule.DELIVERED_AT_LEAST_ONCE,
          position,
          log.event(position)
              + (deliveries.isEmpty()
                  ? " was never delivered"
                  : " was not done at last, and is not dead"));
    }
  }

  private static boolean isDone(Delivery delivery) {
    return delivery.has(Outcome.DONE) && !delivery.has(Answer.REFUSED);
  }

  /** Returns a time before which the first delivery of an event was not sent. */
  private long published(EventName event) {
    return published.getOrDefault(event, 0L);
  }

  private WorkStep step(Delivery delivery, long since) {
    return new WorkStep(delivery, Math.max(since, delivery.worker().begun()), queue, losses);
  }

  private void deliveries(List<Delivery> deliveries) {
    long since = published(deliveries.get(0).seen().event());
    unseen(1, deliveries.get(0), since);
    @Nullable WorkStep before = null;
    for (Delivery delivery : deliveries) {
      if (delivery.attempt() > queue.limits().maxAttempts()) {
        add(
            HistoryRule.ATTEMPTS_RISE,
            delivery.seen().position(),
            delivery + " (expected: at most " + queue.limits().maxAttempts() + " attempts)");
      }
      if (before != null) {
        follows(before, delivery);
        since = before.after(delivery.seen().at());
      }
      before = step(delivery, since);
    }
  }

  private void follows(WorkStep step, Delivery next) {
    Delivery before = step.delivery();
    long position = next.seen().position();
    String text = next + ", after: " + before;
    if (before.has(Answer.CONFIRMED)) {
      add(HistoryRule.SETTLED_NEVER_AGAIN, position, text);
      return;
    }
    if (!step.mayComeAgain(next.seen().at())) {
      add(HistoryRule.REDELIVERY_HAS_CAUSE, position, text);
    } else if (step.isEarly(next.seen().at())) {
      add(HistoryRule.RETRY_WAITS, position, text);
    }
    if (next.attempt() == before.attempt()) {
      if (!step.mayBeGivenBack(next.seen().at())) {
        add(HistoryRule.ATTEMPTS_RISE, position, text);
      }
    } else {
      unseen(
          before.attempt() + (before.has(Outcome.RELEASE) ? 0 : 1),
          next,
          step.after(next.seen().at()));
    }
  }

  /** Looks whether attempts that no handler has seen can have failed. */
  private void unseen(int expected, Delivery next, long since) {
    int unseen = next.attempt() - expected;
    if (unseen > mostUnseen(since, next.seen().at())) {
      add(
          HistoryRule.ATTEMPTS_RISE,
          next.seen().position(),
          next + ", after " + unseen + " attempts that can have failed nowhere");
    }
  }

  private long mostUnseen(long since, long until) {
    long most = losses.most(since, until);
    return most == Long.MAX_VALUE ? most : most + (until - since) / queue.limits().ackNanos();
  }

  private void dead(DeadLetter letter) {
    List<Delivery> deliveries = byPosition.getOrDefault(letter.position(), List.of());
    @Nullable Delivery last = deliveries.isEmpty() ? null : deliveries.get(deliveries.size() - 1);
    if (last != null && last.has(Answer.CONFIRMED)) {
      add(HistoryRule.SETTLED_NEVER_AGAIN, letter.position(), letter.toString());
      return;
    }
    boolean rejected =
        deliveries.stream()
            .anyMatch(each -> each.has(Outcome.REJECT) && each.attempt() == letter.attempts());
    if (!rejected
        && (letter.attempts() != queue.limits().maxAttempts() || !hasFailed(letter, last))) {
      add(HistoryRule.DEAD_HAS_REASON, letter.position(), letter.toString());
    }
  }

  /** Returns whether all attempts since the last one that was seen can have failed. */
  private boolean hasFailed(DeadLetter letter, @Nullable Delivery last) {
    long since = log.has(letter.position()) ? published(log.event(letter.position())) : letter.at();
    if (last == null) {
      return letter.attempts() <= mostUnseen(since, letter.at());
    }
    WorkStep step = step(last, since);
    int unseen = letter.attempts() - last.attempt() + (last.has(Outcome.RELEASE) ? 1 : 0);
    return unseen >= 0
        && step.mayComeAgain(letter.at())
        && unseen <= mostUnseen(step.after(letter.at()), letter.at());
  }

  private void add(HistoryRule rule, long position, String text) {
    findings.add(rule, queue.subscription() + ": " + text + "; all deliveries: " + story(position));
  }

  /** Returns all deliveries of an event, without the later ones if there are very many. */
  private List<Delivery> story(long position) {
    return byPosition.getOrDefault(position, List.of()).stream().limit(MAX_STORY).toList();
  }
}
