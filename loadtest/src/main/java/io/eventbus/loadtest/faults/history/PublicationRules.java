package io.eventbus.loadtest.faults.history;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rules of what publishers were told. */
final class PublicationRules {
  private final History history;
  private final FinalLog log;
  private final Findings findings;

  private PublicationRules(History history, FinalLog log, Findings findings) {
    this.history = history;
    this.log = log;
    this.findings = findings;
  }

  static void check(History history, FinalLog log, Findings findings) {
    PublicationRules rules = new PublicationRules(history, log, findings);
    history.publications().forEach(rules::confirmed);
    rules.refused();
    rules.producerOrder();
    rules.realTime();
    rules.expectations();
  }

  private void confirmed(Publication publication) {
    if (!(publication.answer() instanceof PublishAnswer.Stored stored)) {
      return;
    }
    if (stored.position() > 0) {
      log.claim(stored.position(), publication.event(), publication, findings);
      log.expect(stored.position(), HistoryRule.CONFIRMED_IS_STORED, findings);
      if (log.has(stored.position()) && !log.event(stored.position()).equals(publication.event())) {
        findings.add(
            HistoryRule.CONFIRMED_IS_STORED,
            publication + ", but the journal has " + log.event(stored.position()) + " there");
      }
    } else if (log.position(publication.event()) == 0
        && history.finals().stream().allMatch(reading -> reading.cuts().isEmpty())) {
      findings.add(HistoryRule.CONFIRMED_IS_STORED, publication + ", but it is nowhere");
    }
  }

  private void refused() {
    Map<EventName, Publication> refused = new HashMap<>();
    for (Publication publication : history.publications()) {
      if (publication.answer() instanceof PublishAnswer.Refused) {
        refused.put(publication.event(), publication);
      }
    }
    for (long position : log.positions()) {
      refused(refused.get(log.event(position)), "the journal has it at position " + position);
    }
    for (Reading reading : history.readings()) {
      reading.seen().forEach(seen -> refused(refused.get(seen.event()), seen));
    }
    for (Consumption consumption : history.consumptions()) {
      consumption.delivered().forEach(d -> refused(refused.get(d.seen().event()), d.seen()));
    }
    for (WorkQueue queue : history.queues()) {
      queue.deliveries().forEach(d -> refused(refused.get(d.seen().event()), d.seen()));
    }
  }

  private void refused(@Nullable Publication publication, Object where) {
    if (publication != null) {
      findings.add(HistoryRule.REFUSED_IS_NOWHERE, publication + ", but: " + where);
    }
  }

  private record Line(String producer, String topic) {}

  private void producerOrder() {
    Map<Line, Long> last = new HashMap<>();
    for (long position : log.positions()) {
      EventName event = log.event(position);
      if (history.forgotten().contains(event.producer())) {
        continue;
      }
      @Nullable Long before = last.put(new Line(event.producer(), event.topic()), event.number());
      if (before != null && before >= event.number()) {
        findings.add(
            HistoryRule.PRODUCER_ORDER,
            event
                + " at position "
                + position
                + " comes after number "
                + before
                + (log.position(event) < position
                    ? ", and is also at position " + log.position(event)
                    : ""));
      }
    }
  }

  private long position(Publication publication) {
    return publication.answer() instanceof PublishAnswer.Stored stored && stored.position() > 0
        ? stored.position()
        : log.position(publication.event());
  }

  private void realTime() {
    List<Publication> placed =
        history.publications().stream()
            .filter(publication -> position(publication) > 0)
            .filter(p -> !history.forgotten().contains(p.event().producer()))
            .sorted(Comparator.comparingLong(Publication::called))
            .toList();
    List<Publication> confirmed =
        placed.stream()
            .filter(publication -> publication.answer() instanceof PublishAnswer.Stored)
            .sorted(Comparator.comparingLong(Publication::answered))
            .toList();
    int next = 0;
    @Nullable Publication farthest = null;
    for (Publication publication : placed) {
      while (next < confirmed.size() && confirmed.get(next).answered() < publication.called()) {
        Publication before = confirmed.get(next++);
        farthest = farthest == null || position(before) > position(farthest) ? before : farthest;
      }
      if (farthest != null && position(publication) <= position(farthest)) {
        findings.add(
            HistoryRule.LATER_IS_BEHIND,
            publication + ", at position " + position(publication) + ", began after: " + farthest);
      }
    }
  }

  private void expectations() {
    Map<EventName, Publication> expecting = new HashMap<>();
    for (Publication publication : history.publications()) {
      if (publication.expected() != Publication.NOTHING) {
        expecting.put(publication.event(), publication);
      }
    }
    Map<String, Long> last = new HashMap<>();
    for (long position : log.positions()) {
      EventName event = log.event(position);
      long before = last.getOrDefault(event.topic(), 0L);
      @Nullable Publication publication = expecting.get(event);
      if (publication != null
          && publication.expected() != before
          && !(publication.expected() > before && log.isCut(publication.expected()))) {
        findings.add(
            HistoryRule.EXPECTATION_HOLDS,
            publication
                + ", at position "
                + position
                + ", but the last event of its topic was at position "
                + before);
      }
      last.put(event.topic(), position);
    }
  }
}
