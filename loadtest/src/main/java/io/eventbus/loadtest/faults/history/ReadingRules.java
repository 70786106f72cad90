package io.eventbus.loadtest.faults.history;

/** Rules of what readers got. */
final class ReadingRules {
  private final FinalLog log;
  private final Findings findings;

  private ReadingRules(FinalLog log, Findings findings) {
    this.log = log;
    this.findings = findings;
  }

  static void check(History history, FinalLog log, Findings findings) {
    ReadingRules rules = new ReadingRules(log, findings);
    for (Reading reading : history.finals()) {
      rules.order(reading);
      reading.seen().forEach(seen -> log.claim(seen.position(), seen.event(), seen, findings));
    }
    for (Reading reading : history.readings()) {
      rules.order(reading);
      reading.seen().forEach(rules::stored);
    }
    for (Consumption consumption : history.consumptions()) {
      consumption.delivered().forEach(delivery -> rules.stored(delivery.seen()));
    }
    for (WorkQueue queue : history.queues()) {
      queue.deliveries().forEach(delivery -> rules.stored(delivery.seen()));
    }
  }

  private void stored(Sighting seen) {
    log.claim(seen.position(), seen.event(), seen, findings);
    if (!log.has(seen.position()) && !log.isCut(seen.position())) {
      findings.add(HistoryRule.READ_IS_STORED, seen + ", but no bus has it");
    }
  }

  /** Walks through the log beside the reader, from each of its events to the next one. */
  private void order(Reading reading) {
    long[] positions = log.positions();
    int next = 0;
    long last = reading.from() - 1;
    boolean begun = reading.from() > 0;
    Object after = "its beginning";
    for (Sighting seen : reading.seen()) {
      if (begun && seen.position() <= last) {
        findings.add(
            HistoryRule.READ_IN_ORDER, reading.reader() + ": " + seen + ", after position " + last);
        continue;
      }
      while (next < positions.length && positions[next] < seen.position()) {
        if (begun && positions[next] > last) {
          expected(reading, positions[next], after, seen);
        }
        next++;
      }
      last = seen.position();
      begun = true;
      after = seen;
    }
  }

  private void expected(Reading reading, long position, Object after, Sighting then) {
    if (reading.topics().contains(log.event(position).topic()) && !reading.isCut(position)) {
      findings.add(
          HistoryRule.READ_IN_ORDER,
          reading.reader()
              + " did not get "
              + log.event(position)
              + " at position "
              + position
              + ", but after "
              + after
              + " it got "
              + then);
    }
  }
}
