package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.history.History;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import io.eventbus.loadtest.faults.history.WorkQueue.Answer;
import io.eventbus.loadtest.faults.history.WorkQueue.Delivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Figures of a history. */
final class HistoryFigures {
  private HistoryFigures() {}

  /** Counts, by name. */
  static Map<String, Long> of(History history) {
    Map<String, Long> figures = new TreeMap<>();
    history
        .publications()
        .forEach(publication -> figures.merge(kind(publication.answer()), 1L, Long::sum));
    figures.put("publications", (long) history.publications().size());
    figures.put(
        "events read",
        history.readings().stream().mapToLong(reading -> reading.seen().size()).sum());
    figures.put("readings", (long) history.readings().size());
    figures.put(
        "events of durable subscriptions",
        history.consumptions().stream().mapToLong(c -> c.delivered().size()).sum());
    figures.put(
        "settlements told",
        history.consumptions().stream().mapToLong(c -> c.settlements().size()).sum());
    figures.put("forgotten producers", (long) history.forgotten().size());
    figures.put(
        "events stored", history.finals().stream().mapToLong(r -> r.seen().size()).max().orElse(0));
    work(history, figures);
    return figures;
  }

  private static String kind(PublishAnswer answer) {
    if (answer instanceof PublishAnswer.Stored) {
      return "confirmed";
    }
    return answer instanceof PublishAnswer.Refused refused
        ? "refused " + refused.code()
        : "unknown " + ((PublishAnswer.Unknown) answer).why();
  }

  private static void work(History history, Map<String, Long> figures) {
    figures.put("work: deliveries", count(history, delivery -> true));
    figures.put("work: deliveries again", count(history, delivery -> delivery.attempt() > 1));
    figures.put(
        "work: settled",
        count(history, each -> each.settlement() != null && !each.has(Answer.REFUSED)));
    figures.put("work: confirmed", count(history, each -> each.has(Answer.CONFIRMED)));
    figures.put("work: rejected", count(history, each -> each.has(Outcome.REJECT)));
    figures.put(
        "work: dead", history.queues().stream().mapToLong(queue -> queue.dead().size()).sum());
    figures.put(
        "work: losses", history.queues().stream().mapToLong(queue -> queue.losses().size()).sum());
  }

  private static long count(History history, Predicate<Delivery> which) {
    return history.queues().stream()
        .flatMap(queue -> queue.deliveries().stream())
        .filter(which)
        .count();
  }
}
